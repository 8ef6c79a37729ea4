/** Whoever asks while a question is open gets its answer: one question at a time, however many want to know. */
export function sharedAnswer<T>(ask: () => Promise<T>): () => Promise<T> {
  let open: Promise<T> | null = null;
  return () => {
    open ??= ask().finally(() => (open = null));
    return open;
  };
}
