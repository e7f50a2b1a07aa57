;; Tries: a memory of 4 GB at its start
;; Stood for: the memory is promised at the instantiation
;; Ends: refused BAD_MODULE, done, failed PROGRAM_ERROR, failed PROGRAM_TRAP
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  
  (memory (export "memory") 65536 65536)
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
