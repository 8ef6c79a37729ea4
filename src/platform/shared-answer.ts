/** A caller that asks while a question is open gets the answer to it: one question at a time, for any number of callers. */
export function sharedAnswer<T>(ask: () => Promise<T>): () => Promise<T> {
  let open: Promise<T> | null = null;
  return () => {
    open ??= ask().finally(() => (open = null));
    return open;
  };
}
