/** The package ships no types; these are the functions that Lote uses. */
declare module 'fs-native-extensions' {
  /** Requests a lock on the whole open file; false when another open file holds it. Throws when the file system keeps no locks. */
  export function tryLock(fd: number, options?: { readonly shared?: boolean }): boolean;
}
