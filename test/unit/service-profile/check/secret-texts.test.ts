import { describe, expect, it } from 'vitest';
import { secretMistakes } from '../../../../src/service-profile/check/secret-texts.ts';
import { PROFILES } from '../../../support/any-service/profiles.ts';

const lines = (text: string, known: readonly string[] = []) => secretMistakes(text, known).map(({ line }) => line);

describe('secrets in the file of a profile', () => {
  it.each([
    '{"requests":{"headers":{"X-Api-Key":"abc"}}}',
    '{"requests":{"headers":{"Cookie":"a=b"}}}',
    '{"requests":{"headers":{"Ocp-Apim-Subscription-Key":"a"}}}',
    '{"requests":{"headers":{"X-Any":"Bearer abc"}}}',
    '{"requests":{"createMerchant":{"body":{"key":"sk_live_1234","nif":"{nif}"}}}}',
    '{"signature":{"secret":{"prefix":"whsec_MfKQ9r8GKYqrTwjU"}}}',
    '{"requests":{"listMerchants":{"path":"//lote:geheim@host/x"}}}',
    '{ /* sk_test_0123456789 */ }',
    '{"error":{"code":"(not shown)"}}',
  ])('are found in %s', (text) => {
    expect(lines(text)).toEqual([1]);
  });

  it('are found with their line, and are not repeated in what is said', () => {
    const found = secretMistakes('{\n  // a note\n  "error": { "code": "/geheimnis-17/x" }\n}', ['geheimnis-17', 'x']);

    expect(found).toMatchObject([{ line: 3, column: 22, path: ['error', 'code'] }]);
    expect(JSON.stringify(found)).not.toContain('geheimnis');
  });

  it('are not seen in what only says how secrets begin, nor in the profiles that are shown as examples', () => {
    expect(lines('{"signature":{"secret":{"prefix":"whsec_"}},"invoice":{"idPrefix":"sk_"}}')).toEqual([]);
    for (const { profile, name } of PROFILES) expect(lines(JSON.stringify(profile)), name).toEqual([]);
  });
});
