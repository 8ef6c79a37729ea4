import { describe, expect, it } from 'vitest';
import { createHandOver, type StartHandedOver } from '../../../../src/app/operator/hand-over.ts';

const ANYWHERE = { anywhere: true, note: () => Promise.resolve() };

const MISSING = 'missing.csv';

interface Begun {
  readonly file: string;
  readonly options: object;
  end(): void;
}

function owner(fail?: Error) {
  const begun: Begun[] = [];
  const start: StartHandedOver = (file, options) => {
    if (fail !== undefined || file === MISSING) return Promise.reject(fail ?? new Error('no such file'));
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    begun.push({ file, options, end });
    return Promise.resolve({ batchId: `batch-${file}`, workflowId: `workflow-${file}`, ended });
  };
  return { begun, handOver: createHandOver(start) };
}

describe('what is handed over to the owner', () => {
  it('is started with its options, a batch per file, and answered before it has ended', async () => {
    const { begun, handOver } = owner();

    const answer = await handOver.run({ files: ['a.csv', 'b.csv'], options: { decimal: ',' } }, ANYWHERE);

    expect(answer).toEqual({
      batches: [
        { batchId: 'batch-a.csv', workflowId: 'workflow-a.csv', file: 'a.csv' },
        { batchId: 'batch-b.csv', workflowId: 'workflow-b.csv', file: 'b.csv' },
      ],
    });
    expect(begun.map(({ file, options }) => [file, options])).toEqual([
      ['a.csv', { decimal: ',' }],
      ['b.csv', { decimal: ',' }],
    ]);
    expect(handOver.open).toBe(1);
  });

  it('keeps the owner until the last batch has ended, also one that came while it waited', async () => {
    const { begun, handOver } = owner();
    let finished = false;
    await handOver.run({ files: ['a.csv'], options: {} }, ANYWHERE);
    const finish = handOver.finish().then(() => (finished = true));
    await handOver.run({ files: ['b.csv'], options: {} }, ANYWHERE);

    begun[0]?.end();
    await new Promise((resolve) => setImmediate(resolve));
    const afterFirst = finished;
    begun[1]?.end();
    await finish;

    expect(afterFirst).toBe(false);
    expect(handOver.open).toBe(0);
  });

  it('does not keep the owner when it could not be started', async () => {
    const { handOver } = owner(new Error('no such file'));

    await expect(handOver.run({ files: ['a.csv'], options: {} }, ANYWHERE)).rejects.toThrow('no such file');
    await handOver.finish();

    expect(handOver.open).toBe(0);
  });

  it('keeps the owner for what was started before a file that could not be', async () => {
    const { begun, handOver } = owner();

    await expect(handOver.run({ files: ['a.csv', MISSING], options: {} }, ANYWHERE)).rejects.toThrow('no such file');
    await new Promise((resolve) => setImmediate(resolve));
    const open = handOver.open;
    begun[0]?.end();
    await handOver.finish();

    expect(open).toBe(1);
  });

  it.each(['finish', 'refuse'] as const)('is refused after %s: the caller must become the owner', async (end) => {
    const { handOver } = owner();
    await handOver[end]();

    await expect(handOver.run({ files: ['a.csv'], options: {} }, ANYWHERE)).rejects.toMatchObject({
      code: 'owner-leaving',
    });
  });
});
