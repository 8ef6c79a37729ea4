/** Says for each part whether a process can do its work now, in words that are safe to publish. */
export interface Readiness {
  readonly status: 'ready' | 'trouble';
  readonly parts: Readonly<Record<string, 'ok' | 'trouble'>>;
}
