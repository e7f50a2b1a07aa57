;; Tries: a table of ten million entries
;; Stood for: engines allocate a whole table at once
;; Ends: refused BAD_MODULE, done
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  (table (export "__indirect_function_table") 10000000 10000000 funcref)
  (memory (export "memory") 2 10)
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
