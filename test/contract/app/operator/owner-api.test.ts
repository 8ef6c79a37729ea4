import { describe, expect, it } from 'vitest';
import { ownerAt } from '../../../unit/app/operator/owner-at.ts';

describe('the owner of a data directory', () => {
  it('refuses with a sentence, and opens nothing, when it lives and its console cannot be reached', async () => {
    await expect(ownerAt('http://127.0.0.1:1')).rejects.toMatchObject({
      code: 'data-directory-owned',
      message: expect.stringContaining('nothing answers at http://127.0.0.1:1') as string,
    });
  });
});
