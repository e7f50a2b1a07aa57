import type { Program } from './program.ts';

export const intercommunicatorPrograms: Record<string, Program> = {
  /** Every way to an intercommunicator, messages and collectives over it; two groups of different size. */
  intercommunicators: (m) => {
    const { COMM_WORLD: world } = m;
    const { rank, size } = world;
    const cut = Math.ceil(size / 3);
    const high = rank >= cut;
    const local = world.split(high ? 1 : 0)!;
    const inter = local.createIntercomm(0, local.rank === 0 ? world : null, high ? 0 : cut, 5);
    const remote = Array.from({ length: inter.remoteSize }, (_, i) => (high ? i : cut + i));
    const out: Record<string, unknown> = {
      sizes: [inter.isInter, local.isInter, inter.size, inter.remoteSize],
      group:
        inter.remoteGroup
          .translateRanks(
            remote.map((_, i) => i),
            world.group,
          )
          .join() === remote.join(),
    };

    // Messages from anybody: the sum does not depend on their order.
    for (let i = 0; i < inter.remoteSize; i++) inter.sendObject({ from: rank }, i, 1);
    let sum = 0;
    for (let i = 0; i < inter.remoteSize; i++) {
      const { value, status } = inter.recvObject<{ from: number }>(m.ANY_SOURCE, 1);
      sum += value.from;
      if (value.from !== remote[status.source]) throw new Error('the source is not a rank of the remote group');
    }
    out.messages = sum;

    // From a root of the low group to the high one, and back up.
    const root = high ? 0 : local.rank === 0 ? m.ROOT : m.PROC_NULL;
    const buf = new Float64Array(3).fill(local.rank === 0 && !high ? 7 : -1);
    inter.bcast(root === m.PROC_NULL ? null : buf, root);
    out.bcast = [...buf];
    out.object = inter.bcastObject(
      root === m.ROOT ? 'x'.repeat(1000) : root === m.PROC_NULL ? 'own' : undefined,
      root,
    ).length;
    const gathered = root === m.ROOT ? new Int32Array(2 * inter.remoteSize) : null;
    inter.gather(high ? new Int32Array([rank, -rank]) : null, gathered, root);
    out.gather = gathered && [...gathered];
    const block = new Int32Array(2);
    inter.scatter(gathered, high ? block : null, root);
    out.scatter = [...block];
    out.objects = [
      inter.gatherObject('r'.repeat(rank), root)?.join(),
      inter.scatterObject(root === m.ROOT ? remote : undefined, root),
      inter.allgatherObject(rank).join(),
      inter.alltoallObject(remote.map((r) => `${rank}>${r}`)).join(),
    ];
    out.numbers = [inter.allreduce(rank), inter.reduce(rank, m.MAX, root)];
    const shares = new Float64Array(1);
    inter.reduceScatterBlock(
      new Float64Array(inter.size * inter.remoteSize).map((_, i) => rank + i),
      new Float64Array(inter.remoteSize),
    );
    inter.iallreduce(new Float64Array([rank]), shares).wait();
    out.iallreduce = shares[0];
    inter.barrier();

    const merged = inter.merge(!high);
    out.merged = [merged.rank, merged.allgatherObject(rank).join()];
    const half = inter.split(local.rank % 2, -local.rank);
    out.split = half && [half.size, half.remoteSize, half.allgatherObject(rank).join()];
    const twin = inter.dup();
    out.compare = [twin.compare(inter), inter.compare(world), twin.remoteSize === inter.remoteSize];
    twin.disconnect();
    const even = m.createFromGroup(world.group, 'all of them');
    out.fromGroup = even.allreduce(1);
    // Without a parent: the leaders are the last of each group.
    const mine = world.group.incl(Array.from({ length: local.size }, (_, i) => (high ? cut + i : i)));
    const leader = local.rank === local.size - 1;
    const orphan = m.createIntercommFromGroups(
      mine,
      local.size - 1,
      leader ? world.group.incl(remote) : null,
      remote.length - 1,
      'both of them',
    );
    out.orphan = orphan.allgatherObject(rank).join();
    orphan.disconnect();
    out.createGroup = world.createGroup(local.group, 3)?.size;

    // The last group that is left connects to the first over a port; the news of the name arrives some time.
    if (!high) {
      const port = local.rank === 0 ? m.openPort() : null;
      if (port) m.publishName('here', port);
      const met = local.accept(port);
      out.met = met.allgatherObject(rank).join();
    } else {
      world.setErrhandler(m.ERRORS_RETURN);
      m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
      let port: string | null = null;
      while (local.rank === 0 && port === null) {
        try {
          port = m.lookupName('here');
        } catch (e) {
          if ((e as { errorClass?: number }).errorClass !== m.ERR_NAME) throw e;
        }
      }
      const met = local.connect(port);
      out.met = met.allgatherObject(rank).join();
    }
    return out;
  },

  /** Rank 0 refuses, by not accepting, the first two connects of the others, and accepts the third. */
  knocking: (m, { first }: { first: number }) => {
    const { COMM_WORLD: world } = m;
    const local = world.split(world.rank === 0 ? 1 : 0)!;
    const said: unknown[] = [];
    const port = world.bcastObject(world.rank === 0 ? m.openPort() : undefined, 0);
    const trying = (f: () => unknown): void => {
      try {
        said.push(f());
      } catch (e) {
        said.push([(e as { errorClass?: number }).errorClass === m.ERR_PORT, (e as Error).message]);
      }
    };
    local.setErrhandler(m.ERRORS_RETURN);
    if (world.rank === 0) {
      world.recvObject(1, 8);
      said.push(local.accept(port).allgatherObject('door'));
    } else {
      trying(() => local.connect(port, 0, first));
      trying(() => local.connect(port, 0, 0));
      if (world.rank === 1) world.sendObject('now', 0, 8);
      said.push(local.connect(port).allgatherObject(world.rank));
    }
    return said;
  },

  /** An accept that has begun when the connect's time-out of none runs out: either both meet, or neither does. */
  race: (m, { rounds }: { rounds: number }) => {
    const { COMM_WORLD: world, COMM_SELF: self } = m;
    self.setErrhandler(m.ERRORS_RETURN);
    const port = world.bcastObject(world.rank === 0 ? m.openPort() : undefined, 0);
    let refused = 0;
    for (let met = 0; met < rounds; met++) {
      if (world.rank === 0) {
        const other = self.accept(port);
        if (other.recvObject(0, 3).value !== met) throw new Error('the two sides disagree');
        continue;
      }
      for (;;) {
        try {
          self.connect(port, 0, met % 2 ? 0 : 0.001).sendObject(met, 0, 3);
          break;
        } catch (e) {
          if ((e as { errorClass?: number }).errorClass !== m.ERR_PORT) throw e;
          refused++;
        }
      }
    }
    return { rounds, refused };
  },
};
