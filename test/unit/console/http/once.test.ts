import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { ONCE_FIELD } from '../../../../src/console/forms/form-token.ts';
import { doneOnce } from '../../../../src/console/console-app.ts';

const RETRY = `/retry?${ONCE_FIELD}=a`;

/** A form that notes what it was sent, and leads to a page of its own each time, after so many refusals. */
function formNoting(refusals = 0) {
  const sent: unknown[] = [];
  let time = 0;
  const app = new Hono();
  app.use(doneOnce(() => time));
  app.post('/retry', async (context) => {
    sent.push(await context.req.parseBody({ all: true }));
    return sent.length <= refusals ? context.text('refused', 503) : context.redirect(`/done-${sent.length}`, 303);
  });
  const post = async (path: string, reason: string): Promise<string | number> => {
    const answer = await app.request(path, { method: 'POST', body: new URLSearchParams({ reason }) });
    return answer.headers.get('location') ?? answer.status;
  };
  return { sent, post, pass: (ms: number) => void (time += ms) };
}

describe('a form of a page', () => {
  it('that is sent twice by a double click is done once, and both lead to the same place', async () => {
    const { sent, post } = formNoting();

    const together = await Promise.all([post(RETRY, 'again'), post(RETRY, 'again')]);

    expect([...together, await post(RETRY, 'again')]).toEqual(['/done-1', '/done-1', '/done-1']);
    expect(sent).toEqual([{ reason: 'again' }]);
  });

  it.each([
    ['with other words', RETRY, 'another reason', 0],
    ['from a page that was loaded anew', `/retry?${ONCE_FIELD}=b`, 'again', 0],
    ['from the same page, later', RETRY, 'again', 10_001],
  ])('is done again %s', async (_, path, reason, ms) => {
    const { sent, post, pass } = formNoting();
    await post(RETRY, 'again');
    pass(ms);

    expect(await post(path, reason)).toBe('/done-2');
    expect(sent).toHaveLength(2);
  });

  it('that was refused may be sent again at once', async () => {
    const { post } = formNoting(1);

    expect([await post(RETRY, 'again'), await post(RETRY, 'again')]).toEqual([503, '/done-2']);
  });

  it('is done each time for a program, whose requests come from no page', async () => {
    const { post } = formNoting();

    expect([await post('/retry', 'again'), await post('/retry', 'again')]).toEqual(['/done-1', '/done-2']);
  });
});
