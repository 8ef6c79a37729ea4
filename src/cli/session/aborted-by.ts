/** A signal that is aborted as soon as `ended` rejects, with the same reason. */
export function abortedBy(ended: Promise<never>): AbortSignal {
  const over = new AbortController();
  ended.catch((reason: unknown) => over.abort(reason));
  return over.signal;
}
