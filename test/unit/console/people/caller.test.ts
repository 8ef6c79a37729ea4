import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { mayOperate } from '../../../../src/console/people/caller.ts';

describe('a route that no guard stands before', () => {
  it('lets nobody act: it fails', async () => {
    const app = new Hono();
    app.get('/', (context) => context.text(String(mayOperate(context))));
    app.onError((error, context) => context.text(error.message, 500));

    const answer = await app.request('http://localhost/');

    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain('no guard');
  });
});
