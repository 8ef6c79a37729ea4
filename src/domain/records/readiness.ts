/** Whether a process can do its work now, part by part: words only, so that anybody may read it. */
export interface Readiness {
  readonly status: 'ready' | 'trouble';
  readonly parts: Readonly<Record<string, 'ok' | 'trouble'>>;
}
