import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, onShutdown } from '../../../../src/runtime/process/shutdown.ts';

function listening(): { source: EventEmitter; heard: string[]; stop: () => void } {
  const source = new EventEmitter();
  const heard: string[] = [];
  const stop = onShutdown({
    source,
    graceful: (signal) => heard.push(`graceful ${signal}`),
    immediate: (signal, code) => heard.push(`immediate ${signal} ${code}`),
  });
  return { source, heard, stop };
}

describe('onShutdown', () => {
  it('leaves gracefully at the first signal and at once at the second, whichever they are', () => {
    const { source, heard } = listening();

    source.emit('SIGINT');
    source.emit('SIGTERM');

    expect(heard).toEqual(['graceful SIGINT', 'immediate SIGTERM 143']);
  });

  it('leaves at once at the first one while there is no work, and does nothing more at later ones', () => {
    const source = new EventEmitter();
    const heard: string[] = [];
    onShutdown({
      source,
      hasWork: () => false,
      graceful: (signal) => heard.push(`graceful ${signal}`),
      immediate: (signal, code) => heard.push(`immediate ${signal} ${code}`),
    });

    source.emit('SIGTERM');
    source.emit('SIGTERM');

    expect(heard).toEqual(['immediate SIGTERM 143']);
  });

  it('does nothing more at a third', () => {
    const { source, heard } = listening();

    for (const signal of ['SIGINT', 'SIGINT', 'SIGINT']) source.emit(signal);

    expect(heard).toEqual(['graceful SIGINT', 'immediate SIGINT 130']);
  });

  it('takes its listeners away when told so', () => {
    const { source, heard, stop } = listening();

    stop();
    source.emit('SIGINT');

    expect(heard).toEqual([]);
    expect(source.eventNames()).toEqual([]);
  });

  it('leaves with the exit codes of shells', () => {
    expect([exitCodeOf('SIGINT'), exitCodeOf('SIGQUIT'), exitCodeOf('SIGTERM'), exitCodeOf('SIGHUP')]).toEqual([
      130, 131, 143, 129,
    ]);
  });
});
