"use strict";
(() => {
  // mayfly:mayfly
  var from = (name) => globalThis.__mayfly[name];
  var ANY_SOURCE = /* @__PURE__ */ from("ANY_SOURCE");
  var COMM_WORLD = /* @__PURE__ */ from("COMM_WORLD");
  var stdin = /* @__PURE__ */ from("stdin");
  var files = /* @__PURE__ */ from("files");
  var checkpoint = /* @__PURE__ */ from("checkpoint");

  // program:main.ts
  var state = { step: 0, sum: 0 };
  var ballast = new Float64Array(1e3);
  var got = new Float64Array(1);
  checkpoint.register("state", state);
  checkpoint.register("ballast", ballast);
  if (checkpoint.open().restarted) {
    checkpoint.rollback("state");
    checkpoint.rollback("ballast");
  }
  var other = 1 - COMM_WORLD.rank;
  for (; state.step < 40; state.step++) {
    checkpoint.here();
    COMM_WORLD.send(new Float64Array([state.sum + COMM_WORLD.rank]), other);
    COMM_WORLD.recv(got, ANY_SOURCE);
    state.sum = got[0] + state.step;
    ballast[state.step] = state.sum;
    files.append("sums-" + COMM_WORLD.rank + ".txt", state.sum + "\n");
    if (state.step % 5 === 4) console.log("step", state.step, state.sum);
    if ([10, 18, 25].includes(state.step)) {
      if (COMM_WORLD.rank === 0) stdin.readLine();
      COMM_WORLD.barrier();
    }
  }
  console.log("all", ballast.reduce((a, b) => a + b));
})();
//# sourceURL=mayfly-program.js
