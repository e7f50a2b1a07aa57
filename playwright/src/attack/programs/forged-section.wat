;; Tries: a custom section that tells our host where to unwind the stack
;; Stood for: the host trusts the output of the toolchain
;; Ends: refused BAD_MODULE, done
;; Section: mayfly {"unwind":{"start":1,"end":4294967295},"memory":{"maximum":1000000000}}
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  (export "asyncify_start_unwind" (func $fin)) (export "asyncify_stop_unwind" (func $fin)) 
  (memory (export "memory") 2 10)
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
