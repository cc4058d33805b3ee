/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const __wbg_noise_free: (a: number, b: number) => void;
export const __wbg_report_free: (a: number, b: number) => void;
export const noise_about: (a: number, b: number) => void;
export const noise_account: (a: number, b: number, c: number, d: number) => void;
export const noise_density: (a: number, b: number) => number;
export const noise_new: (a: number, b: number, c: number, d: number, e: number) => void;
export const noise_report: (a: number, b: number, c: number, d: number, e: number, f: number) => void;
export const noise_within: (a: number, b: number) => number;
export const report_answer: (a: number, b: number, c: number, d: number, e: number) => void;
export const report_kept: (a: number, b: number, c: number) => void;
export const report_new: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number) => void;
export const report_next: (a: number, b: number) => void;
export const report_rejected: (a: number, b: number, c: number, d: number) => void;
export const report_row: (a: number, b: number) => void;
export const report_unreachable: (a: number, b: number, c: number) => void;
export const __wbindgen_export_0: (a: number) => void;
export const __wbindgen_add_to_stack_pointer: (a: number) => number;
export const __wbindgen_export_1: (a: number, b: number) => number;
export const __wbindgen_export_2: (a: number, b: number, c: number, d: number) => number;
export const __wbindgen_export_3: (a: number, b: number, c: number) => void;
