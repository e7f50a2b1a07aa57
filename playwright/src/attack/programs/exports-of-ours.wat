;; Tries: exports with the names that the host calls, of other kinds
;; Stood for: the host trusts the name of an export
;; Ends: refused BAD_MODULE, done, failed PROGRAM_TRAP, failed PROGRAM_ERROR
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  (global $g (mut i32) (i32.const -1)) (export "__stack_pointer" (global $g)) (export "__indirect_function_table" (func $fin)) (export "mayfly.global.0" (global $g))
  (memory (export "memory") 2 10)
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
