/** What was started, to be stopped in the reverse order; a part that fails to stop does not keep the others from it. */
export interface StartedParts {
  add(name: string, stop: () => Promise<unknown>): void;
  stop(): Promise<void>;
}

/** An empty list of started parts. A part that fails to stop is logged as a warning. */
export function startedParts(log: { warn(message: string, fields?: Record<string, unknown>): void }): StartedParts {
  const parts: { name: string; stop: () => Promise<unknown> }[] = [];
  return {
    add: (name, stop) => {
      parts.push({ name, stop });
    },
    async stop() {
      for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
        try {
          await part.stop();
        } catch (error) {
          log.warn('a part did not stop cleanly', { part: part.name, err: error });
        }
      }
    },
  };
}
