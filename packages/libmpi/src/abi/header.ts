/**
 * The text of include/mpi.h, made of the tables of this folder. test/abi/header.test.ts holds file and tables together.
 */
import { HANDLES, HANDLE_ALIASES, LENGTHS, MARKERS, NUMBERS, POINTERS, WITH_LONG64, entries } from './constants.ts';
import { EXTENSION_PARTS } from './extensions.ts';
import { FUNCTIONS, type CFunction } from './functions.ts';

const HEAD = `/*
 * MPI for C and C++ programs on Mayfly: the MPI 5.0 standard ABI on a 32-bit WebAssembly memory.
 *
 * This file is generated from packages/libmpi/src/abi; edit the tables there. Every function exists under its MPI_ name and its PMPI_ name.
 */
#ifndef MAYFLY_MPI_H
#define MAYFLY_MPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;
typedef MPI_Status MPI_F08_status;
`;

/** For calls from Fortran, which do not occur here: programs name them in their wrappers (MPI 4.1 §19.3.5). */
const FORTRAN = ['STATUS', 'STATUSES'].flatMap((s) => [`MPI_F_${s}_IGNORE`, `MPI_F08_${s}_IGNORE`]);

const CALLBACKS = `
typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);
typedef void MPI_User_function_c(void *invec, void *inoutvec, MPI_Count *len, MPI_Datatype *datatype);
typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);
typedef int MPI_Comm_copy_attr_function(MPI_Comm comm, int keyval, void *extra_state, void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int keyval, void *attribute_val, void *extra_state);
typedef int MPI_Type_copy_attr_function(MPI_Datatype datatype, int keyval, void *extra_state, void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int keyval, void *attribute_val, void *extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win win, int keyval, void *extra_state, void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int keyval, void *attribute_val, void *extra_state);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra_state);
typedef int MPI_Datarep_conversion_function(void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position, void *extra_state);
typedef int MPI_Datarep_conversion_function_c(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf, MPI_Offset position, void *extra_state);
typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *error_code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *error_code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *error_code, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *session, int *error_code, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
`;

const TOOLS = `
typedef struct MPI_ABI_T_enum *MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle *MPI_T_cvar_handle;
typedef struct MPI_ABI_T_pvar_handle *MPI_T_pvar_handle;
typedef struct MPI_ABI_T_pvar_session *MPI_T_pvar_session;
typedef struct MPI_ABI_T_event_registration *MPI_T_event_registration;
typedef struct MPI_ABI_T_event_instance *MPI_T_event_instance;
typedef enum MPI_T_cb_safety {
  MPI_T_CB_REQUIRE_NONE = 0x00, MPI_T_CB_REQUIRE_MPI_RESTRICTED = 0x03, MPI_T_CB_REQUIRE_THREAD_SAFE = 0x0f, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 0x3f
} MPI_T_cb_safety;
typedef enum MPI_T_source_order { MPI_T_SOURCE_ORDERED = 1, MPI_T_SOURCE_UNORDERED = 2 } MPI_T_source_order;
typedef void MPI_T_event_cb_function(MPI_T_event_instance event_instance, MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, void *user_data);
typedef void MPI_T_event_free_cb_function(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, void *user_data);
typedef void MPI_T_event_dropped_cb_function(MPI_Count count, MPI_T_event_registration event_registration, int source_index, MPI_T_cb_safety cb_safety, void *user_data);
`;

const TAIL = `
/* An image of the rank may be taken here: for loops that compute long without a call of MPI. */
int MPIX_Checkpoint_poll(void);
/* How far this rank is with its whole work: done of total. For the pages and the command line; costs one store into memory. */
int MPIX_Progress(double done, double total);

#ifdef __cplusplus
}
#endif

#endif
`;

/**
 * mpicc puts these around a datatype whose buffer is one of `size_t` or `ptrdiff_t`, which have 32 bits
 * (packages/toolchain/src/c/driver/long64/size-buffers.ts). Of the 64-bit integers each gets one that has 32 bits in
 * memory (packages/mpi/src/narrow.ts).
 */
const SIZES = `/* Of a buffer of size_t (1) or ptrdiff_t (2), which have 32 bits; mpicc puts it around the datatype. */
static __inline__ MPI_Datatype __mayfly_sent(int __mayfly_kind, MPI_Datatype __mayfly_type) {
  intptr_t __mayfly_t = (intptr_t)__mayfly_type;
  if (__mayfly_kind != 1 && __mayfly_kind != 2) return __mayfly_type;
  if (__mayfly_t == 0x2f0 || __mayfly_t == 0x20b || __mayfly_t == 0x258 || __mayfly_t == 0x202 || __mayfly_t == 0x203)
    return (MPI_Datatype)(intptr_t)(__mayfly_kind == 1 ? 0x2f3 : 0x2f5);
  if (__mayfly_t == 0x2f1 || __mayfly_t == 0x20f || __mayfly_t == 0x259)
    return (MPI_Datatype)(intptr_t)(__mayfly_kind == 1 ? 0x2f4 : 0x2f6);
  return __mayfly_type;
}
`;

const pad = (name: string): string => name.padEnd(32);
const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`;
const declaration = (f: CFunction, name: string): string =>
  `${f.result} ${name}(${f.parameters.join(', ') || 'void'});`;

export function headerText(): string {
  const out: string[] = [HEAD];
  for (const [type, text] of Object.entries(HANDLES)) {
    out.push(`\ntypedef struct MPI_ABI_${type.slice(4)} *${type};\n`);
    for (const [name, value] of entries(text)) out.push(`#define ${pad(`MPI_${name}`)} ((${type})${hex(value)})\n`);
  }
  for (const [name, of] of HANDLE_ALIASES) out.push(`#define ${pad(`MPI_${name}`)} MPI_${of}\n`);
  out.push('\n/* Removed in MPI 3.0; old programs have them. */\n');
  for (const [name, value] of entries(MARKERS))
    out.push(`#define ${pad(`MPI_${name}`)} ((MPI_Datatype)${hex(value)})\n`);
  out.push('\n/* Of a long of 64 bits (mayfly mpicc -mlong64). */\n#ifdef __MAYFLY_LONG64__\n');
  for (const [name, value] of entries(WITH_LONG64))
    out.push(`#undef MPI_${name}\n#define ${pad(`MPI_${name}`)} ((MPI_Datatype)${hex(value)})\n`);
  out.push(SIZES, '#endif\n\n');
  for (const of of ['HVECTOR', 'HINDEXED', 'STRUCT'])
    out.push(`#define ${pad(`MPI_COMBINER_${of}_INTEGER`)} MPI_COMBINER_${of}\n`);
  for (const [title, text] of NUMBERS) {
    const list = entries(text);
    out.push(`\n/* ${title} */\nenum {\n${list.map(([name, value]) => `  ${pad(name)} = ${value}`).join(',\n')}\n};\n`);
  }
  out.push('\n');
  for (const [name, value] of Object.entries(LENGTHS)) out.push(`#define ${pad(name)} ${value}\n`);
  out.push(`#define ${pad('MPI_DISPLACEMENT_CURRENT')} ((MPI_Offset)-1)\n`, CALLBACKS, TOOLS, '\n');
  for (const [name, type, value] of POINTERS) out.push(`#define ${pad(name)} ((${type})${value})\n`);
  for (const name of FORTRAN)
    out.push(`#define ${pad(name)} ((${name.includes('08') ? 'MPI_F08_status' : 'MPI_Fint'} *)0)\n`);
  let chapter = '';
  for (const f of FUNCTIONS) {
    if (f.chapter !== chapter) out.push(`\n/* ${(chapter = f.chapter)} */\n`);
    out.push(`${declaration(f, f.name)}\n${declaration(f, `P${f.name}`)}\n`);
  }
  for (const part of EXTENSION_PARTS) {
    const values = part.values.map(([name, value]) => `  ${pad(name)} = ${value}`);
    out.push(`\n/* ${part.chapter} */\nenum {\n${values.join(',\n')}\n};\n`);
    for (const [name, value] of part.comms) out.push(`#define ${pad(name)} ((MPI_Comm)${hex(value)})\n`);
    out.push(part.types);
    for (const f of part.functions) out.push(`${declaration(f, f.name)}\n${declaration(f, `P${f.name}`)}\n`);
  }
  out.push(TAIL);
  return out.join('');
}
