import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import { createLogger, type LoggerOptions } from '../../../../src/app/process/logger.ts';

function captured(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, log: createLogger({ level: 'debug', secrets: [], destination, ...options }) };
}

describe('createLogger', () => {
  it('writes one JSON object a line: level, time, message, fields', () => {
    const { lines, log } = captured();

    log.warn('A delivery was refused', { why: 'signature' });

    expect(lines).toHaveLength(1);
    const line: unknown = JSON.parse(lines[0] ?? '');
    expect(line).toMatchObject({ level: 'warn', msg: 'A delivery was refused', why: 'signature' });
    expect(line).toHaveProperty('time', expect.stringMatching(/^\d{4}-\d\d-\d\dT/));
    expect(line).not.toHaveProperty('hostname');
  });

  it('leaves out what is below its level', () => {
    const { lines, log } = captured({ level: 'warn' });

    log.debug('one');
    log.info('two');
    log.warn('three');
    log.error('four');

    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['three', 'four']);
  });

  it('redacts fields whose names mark a secret', () => {
    const { lines, log } = captured();

    for (const name of ['apiKey', 'authorization', 'secret', 'password', 'token', 'body'])
      log.info('request', { [name]: 'hidden-value', request: { [name]: 'hidden-value' } });

    expect(lines).toHaveLength(6);
    expect(lines.join('')).not.toContain('hidden-value');
  });

  it('redacts a secret wherever it stands: message, field, error text, cause', () => {
    const secret = 'sk_"quoted"_\\key';
    const { lines, log } = captured({ secrets: [secret] });
    const cause = new Error(`connecting with ${secret}`);

    log.error(`refused ${secret}`, { url: `https://x/?key=${secret}`, err: new Error('outer', { cause }) });

    const parsed = JSON.stringify(JSON.parse(lines[0] ?? ''));
    expect(parsed).toContain('[redacted]');
    expect(parsed).not.toContain(JSON.stringify(secret).slice(1, -1));
  });

  it('redacts the longer of two secrets whole when one holds the other, and no "secret" of three letters', () => {
    const { lines, log } = captured({ secrets: ['pass', 'pass-word-long', 'the'] });

    log.info('the message', { it: 'pass-word-long' });

    expect(lines[0]).toContain('"it":"[redacted]"');
    expect(lines[0]).toContain('the message');
  });
});

describe('lines that repeat', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are written once a minute, with the number of those left out', () => {
    const { lines, log } = captured();
    const err = new LoteError('ledger-unavailable', 'away');

    for (let at = 0; at < 16_000; at += 1) log.warn('activity failed', { activity: 'submitSlice', attempt: at, err });
    vi.advanceTimersByTime(60_000);
    for (const attempt of [1, 2]) log.warn('activity failed', { activity: 'submitSlice', attempt, err });
    vi.advanceTimersByTime(120_000);
    log.warn('activity failed', { activity: 'submitSlice', attempt: 3, err });

    const found = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(found.map(({ attempt, repeated }) => [attempt, repeated])).toEqual([
      [0, undefined],
      [1, 15_999],
      [3, 1],
    ]);
  });

  it('are told apart by their words and by the kind of their error, not by numbers', () => {
    const { lines, log } = captured();
    log.warn('failed', { batch: 'a', attempt: 1 });
    log.warn('failed', { batch: 'a', attempt: 2 });
    log.warn('failed', { batch: 'b', attempt: 1 });
    log.warn('failed', { batch: 'b', err: new TypeError('x') });
    log.warn('failed', { batch: 'b', err: new LoteError('interlock', 'x') });

    expect(lines).toHaveLength(4);
  });
});
