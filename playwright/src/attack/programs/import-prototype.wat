;; Tries: imports with names that every object has: __proto__, constructor, toString
;; Stood for: a table of functions that is an ordinary object
;; Ends: refused BAD_MODULE
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  (import "__proto__" "polluted" (func $p (param i32) (result i32))) (import "wasi_snapshot_preview1" "constructor" (func $c (param i32) (result i32))) (import "env" "__defineGetter__" (func $d (param i32 i32) (result i32)))
  (memory (export "memory") 2 10)
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
