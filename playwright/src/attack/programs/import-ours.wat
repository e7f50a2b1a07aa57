;; Tries: imports with names of our own host: mayfly.grow, mayfly.thrown
;; Stood for: the instrumented module has imports that a submitted one must not have
;; Ends: refused BAD_MODULE, done
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  (import "mayfly" "grow" (func $grow (param i32) (result i32))) (import "mayfly" "thrown" (func $thrown))
  (memory (export "memory") 2 10)
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
