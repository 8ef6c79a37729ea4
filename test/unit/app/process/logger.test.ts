import { describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions } from '../../../../src/app/process/logger.ts';

interface Captured {
  readonly lines: string[];
  readonly log: ReturnType<typeof createLogger>;
}

function captured(options: Partial<LoggerOptions> = {}): Captured {
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

  it.each(['apiKey', 'authorization', 'secret', 'password', 'token', 'body'])('redacts a field named %s', (name) => {
    const { lines, log } = captured();

    log.info('request', { [name]: 'hidden-value', request: { [name]: 'hidden-value' } });

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

  it('redacts the longer of two secrets whole when one holds the other', () => {
    const { lines, log } = captured({ secrets: ['pass', 'pass-word-long'] });

    log.info('value', { it: 'pass-word-long' });

    expect(lines[0]).toContain('"it":"[redacted]"');
  });

  it('does not blank out words for a "secret" of three letters', () => {
    const { lines, log } = captured({ secrets: ['the'] });

    log.info('the message');

    expect(lines[0]).toContain('the message');
  });
});
