;; Tries: a module without memory
;; Stood for: every argument of a call points into the memory
;; Ends: refused BAD_MODULE, refused COMPILE_FAILED
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  
  
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
