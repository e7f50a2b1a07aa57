;; Tries: a start function that calls MPI and traps before the rank has begun
;; Stood for: it runs during the instantiation, when the host does not expect the program to run
;; Ends: failed PROGRAM_TRAP, failed PROGRAM_ERROR, failed MPI_ERROR, failed ABORTED, refused BAD_MODULE
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  (func $first (drop (call $init (i32.const 0) (i32.const 0))) unreachable) (start $first)
  (memory (export "memory") 2 10)
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
