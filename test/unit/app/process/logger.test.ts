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

  it('are written once at once, and then counted each minute, for as long as they come', () => {
    const { lines, log } = captured();
    const err = new LoteError('ledger-unavailable', 'away');

    for (let at = 0; at < 16_000; at += 1) log.warn('activity failed', { activity: 'submitSlice', attempt: at, err });
    expect(lines).toEqual([expect.stringContaining('"attempt":0')]);
    vi.advanceTimersByTime(60_000);
    log.warn('activity failed', { activity: 'submitSlice', attempt: 1, err });
    vi.advanceTimersByTime(60_000);

    const words = { msg: 'activity failed', activity: 'submitSlice', errKind: 'ledger-unavailable', withinSeconds: 60 };
    expect(lines.slice(1).map((line): unknown => JSON.parse(line))).toMatchObject([
      { ...words, repeated: 15_999 },
      { ...words, repeated: 1 },
    ]);
  });

  it('are new again after a minute of silence', () => {
    const { lines, log } = captured();
    log.warn('one');
    vi.advanceTimersByTime(60_000);
    log.warn('one');

    expect(lines).toHaveLength(2);
    vi.advanceTimersByTime(120_000);
    expect(lines).toHaveLength(2);
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

  it('are written in full when more kinds come than can be remembered', () => {
    const { lines, log } = captured();
    for (let round = 0; round < 2; round += 1) for (let kind = 0; kind < 600; kind += 1) log.warn(`kind ${kind}`);

    expect(lines).toHaveLength(700);
  });
});
