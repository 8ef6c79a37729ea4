import { mkdtemp, readdir, readFile, stat, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ReplayComparison } from '../../../../src/console/profile-editor.ts';
import type { NotedAction } from '../../../../src/domain/ports/ledger/operating-ledger.ts';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import { createProfileEditor, NOTHING_RECORDED } from '../../../../src/wiring/console/profile-editor.ts';
import { saveProfile, savedProfile } from '../../../../src/wiring/console/save-profile.ts';

const FILE = '{\n  // ten is what the contract says\n  "limits": { "requestsPerSecond": 10 }\n}\n';

describe('the editor of the service profile', () => {
  let dataDir: string;
  let noted: NotedAction[];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'lote-profiles-'));
    noted = [];
  });

  function editor(given: { text?: string | null; replay?: ReplayComparison; noteFails?: boolean } = {}) {
    const { text = null, replay = null, noteFails = false } = given;
    const noteActions = async (_: string, actions: readonly NotedAction[]) => {
      if (noteFails) throw new Error('the ledger is away');
      noted.push(...actions);
    };
    return createProfileEditor({
      profile: loadProfile(text ?? undefined),
      fileText: () => text,
      secrets: ['geheimnis-17'],
      recordings: { ...NOTHING_RECORDED, compare: async () => replay },
      save: (copy) => saveProfile({ dataDir, ledger: { noteActions }, now: () => 7 }, copy),
      kept: (name) => savedProfile(dataDir, name),
    });
  }

  const keep = (text: string, given: Parameters<typeof editor>[0] = {}, acceptsLess = false) =>
    editor(given).keep?.({ name: 'autumn', text, acceptsLess, by: 'ana' });

  it('offers the file with its comments as long as it says what is in force', () => {
    expect(editor({ text: FILE }).copy()).toBe(FILE);
    const changed = createProfileEditor({
      ...{ profile: DEFAULT_PROFILE, fileText: () => FILE, secrets: [], recordings: NOTHING_RECORDED },
      kept: async () => null,
    });
    expect(changed.copy()).not.toContain('contract');
  });

  it('never offers a file that holds a secret', () => {
    const text = '{ // geheimnis-17\n "limits": { "requestsPerSecond": 10 } }';

    expect(editor({ text }).copy()).not.toContain('geheimnis');
    expect(loadProfile(editor({ text }).copy())).toEqual(loadProfile(text));
  });

  it('finds mistakes, contradictions and secrets in the order of the text', async () => {
    const { mistakes } = await editor().check(`{
  "invoice": { "issued": ["paid"], "failed": ["PAID"] },
  "requests": { "headers": { "X-Token": "abc" } },
  "signatur": {}
}`);

    expect(mistakes.map(({ setting, line, suggestion }) => [setting, line, suggestion])).toEqual([
      ['invoice.failed.0', 2, null],
      ['requests.headers.X-Token', 3, null],
      ['signatur', 4, 'signature'],
    ]);
  });

  it('says what differs from the profile in force, and nothing of the default', async () => {
    const { differences } = await editor({ text: FILE }).check('{"limits":{"requestsPerSecond":5}}');

    expect(differences).toEqual([{ key: 'limits.requestsPerSecond', inForce: '10', copy: '5' }]);
  });

  it('saves a copy for its account and group alone, with a line in the audit', async () => {
    const answer = await keep(FILE);

    const file = join(dataDir, 'profiles', 'autumn.json');
    expect(answer).toEqual({ how: 'saved', file });
    expect(await readFile(file, 'utf8')).toBe(FILE);
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect(await readdir(join(dataDir, 'profiles'))).toEqual(['autumn.json']);
    expect(noted).toMatchObject([{ who: 'ana', what: 'save-profile', at: 7 }]);
    expect(noted[0]?.why).toMatch(
      /^profiles\/autumn\.json \(sha256 [0-9a-f]{12}\): 1 setting differs from the profile in force$/u,
    );
    expect(await editor().kept('autumn')).toBe(file);
  });

  it('never overwrites a file', async () => {
    await mkdir(join(dataDir, 'profiles'));
    await writeFile(join(dataDir, 'profiles', 'autumn.json'), 'mine');

    expect(await keep(FILE)).toMatchObject({ how: 'refused', why: 'taken' });
    expect(await readFile(join(dataDir, 'profiles', 'autumn.json'), 'utf8')).toBe('mine');
    expect(noted).toEqual([]);
  });

  it('leaves no file that the audit does not know of', async () => {
    await expect(keep(FILE, { noteFails: true })).rejects.toThrow('the ledger is away');
    expect(await readdir(join(dataDir, 'profiles'))).toEqual([]);
  });

  it('saves no copy with mistakes', async () => {
    expect(await keep('{"limit":{}}')).toMatchObject({ how: 'refused', why: 'mistakes' });
    expect(await editor().kept('autumn')).toBeNull();
  });

  it('saves a copy that understands less only when that is accepted', async () => {
    const row = { what: 'create-invoice', inForce: 'issued', copy: 'unreadable', change: 'worse' } as const;
    const given = { replay: { rows: [row], understandsLess: true } };

    expect(await keep(FILE, given)).toMatchObject({ how: 'refused', why: 'understands-less' });
    expect(await keep(FILE, given, true)).toMatchObject({ how: 'saved' });
    expect(noted[0]?.why).toContain('accepted that it understands less');
  });

  it.each(['../autumn', 'a/b', '.hidden', '', 'x'.repeat(65), 'con\u0000'])('saves nothing as %j', async (name) => {
    const answer = editor().keep?.({ name, text: FILE, acceptsLess: false, by: 'ana' });

    await expect(answer).rejects.toMatchObject({ code: 'usage' });
  });

  it('says of a folder that cannot be written that nothing was saved', async () => {
    await writeFile(join(dataDir, 'profiles'), 'a file where the folder belongs');

    await expect(keep(FILE)).rejects.toMatchObject({
      code: 'folder-unusable',
      message: expect.stringMatching(/Nothing was saved/u) as string,
    });
  });

  it('checks a few copies at once, and sends others away', async () => {
    let release = (): void => undefined;
    const held = new Promise<null>((resolve) => (release = () => resolve(null)));
    const slow = createProfileEditor({
      ...{ profile: DEFAULT_PROFILE, fileText: () => null, secrets: [], kept: async () => null },
      recordings: { ...NOTHING_RECORDED, compare: () => held },
    });

    const running = [slow.check('{}'), slow.check('{}')];
    await expect(slow.check('{}')).rejects.toMatchObject({ code: 'checks-busy' });
    release();
    await Promise.all(running);
    expect((await slow.check('{}')).mistakes).toEqual([]);
  });
});
