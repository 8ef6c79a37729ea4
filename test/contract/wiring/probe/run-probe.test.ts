import { describe, expect, it } from 'vitest';
import { checkProfile } from '../../../../src/service-profile/check-profile.ts';
import { isFinding } from '../../../../src/service-profile/recognise/finding.ts';
import { MOST_REQUESTS } from '../../../../src/wiring/probe/probe-calls.ts';
import { probedText } from '../../../../src/cli/output/probe-text.ts';
import { defaultLike } from '../../../services/default-like.ts';
import type { Family } from '../../../services/fake/family.ts';
import { json } from '../../../services/fake/published.ts';
import { FAMILIES } from '../../../services/families.ts';
import { pollingLike } from '../../../services/polling-like.ts';
import { slackLike } from '../../../services/slack-like.ts';
import { probeFamily } from '../../../support/probe-family.ts';

/** What no answer of these shows: that a count counts something else, and that a word means issued where no event says it. */
const TOLD: Readonly<Record<string, string>> = {
  'slack-like': 'the list of merchants is whole and has the merchant',
  'polling-like': 'the invoice is issued',
};

describe('a probe', { concurrent: true }, () => {
  it.each([defaultLike, ...FAMILIES])('proposes a profile for $name, and names nobody in it', async (family) => {
    const { result, subject, fake, secrets } = await probeFamily(family);

    const wrong = result.readBack.filter(({ right }) => !right).map(({ what }) => what);
    expect(wrong).toEqual(family.name in TOLD ? [TOLD[family.name]] : []);
    expect(result.complete).toBe(!(family.name in TOLD));
    expect(checkProfile(result.proposal).mistakes).toEqual([]);
    expect(result.requests).toBeLessThanOrEqual(MOST_REQUESTS);

    const { invoices, merchants } = fake.books;
    expect(invoices.map(({ status }) => status)).toEqual(['issued', 'failed']);
    expect(merchants.filter(({ key }) => key !== null)).toHaveLength(1);
    const ids = [...invoices, ...merchants].map(({ id }) => id).filter((id) => id.length > 5);
    const people = merchants.flatMap(({ nif, legalName }) => [nif, legalName]);
    const said = [result.proposal, probedText(result), JSON.stringify(result)].join('\n');
    const hidden = [subject.nif, subject.legalName, subject.email, ...secrets, ...ids, ...people];
    expect(hidden.filter((one) => said.includes(one))).toEqual([]);
  });

  it('is complete once its base says what no answer shows', async () => {
    const slack = await probeFamily(slackLike, { base: { merchants: { notPaging: ['count'] } } });
    const polling = await probeFamily(pollingLike, { base: { ...REGISTERED_BY_NOBODY, ...DONE_MEANS_ISSUED } });

    expect([slack.result.complete, polling.result.complete]).toEqual([true, true]);
  });

  it('puts a word that nothing confirms into a comment', async () => {
    const { result } = await probeFamily(pollingLike);

    expect(result.proposal).toContain('// "issued": ["DONE"],');
    expect(checkProfile(result.proposal).profile?.invoice.issued).toEqual(['issued']);
  });

  it('tells of a service whose keys protect from nothing, and creates no more there', async () => {
    const { result, fake } = await probeFamily(forgetful(), { failing: false });

    expect(result.recognised.flatMap((one) => (isFinding(one) ? [] : [one.reason]))).toContain(
      'the same key and bytes brought no id, or another one: they may have created a second invoice',
    );
    expect(result.complete).toBe(false);
    const posts = fake.books.posts.filter(({ path }) => path === defaultLike.requests.createInvoice.path);
    expect(posts, 'the invoice, its repeat, and one without lines').toHaveLength(3);
  });
});

const REGISTERED_BY_NOBODY = { webhook: { register: false } };
const DONE_MEANS_ISSUED = { invoice: { issued: ['done'] } };

/** Each repeat is answered as another invoice. */
function forgetful(): Family {
  let times = 0;
  const repeated = () => json(201, { id: `inv_again_${(times += 1)}`, status: 'processing' });
  return { ...defaultLike, name: 'forgetful', answers: { ...defaultLike.answers, repeated } };
}
