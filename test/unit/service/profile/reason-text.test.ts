import { describe, expect, it } from 'vitest';
import { reasonCode, reasonText } from '../../../../src/service/profile/reason-text.ts';

describe('reasonText', () => {
  it('is one line without control or invisible characters', () => {
    expect(reasonText(' a\r\nb\u0000c\u001b[31md\u202ee\u2028f\ud800g ')).toBe('a b c [31md e f g');
  });

  it.each([
    ['a short text', 'O NIF é inválido', 'O NIF é inválido'],
    ['200 characters', 'x'.repeat(200), 'x'.repeat(200)],
    ['more', 'x'.repeat(201), `${'x'.repeat(199)}…`],
    ['whole characters', '😀'.repeat(900), `${'😀'.repeat(199)}…`],
    ['what stands in the first 2,000 characters, so that a megabyte costs nothing', `${' '.repeat(2_000)}x`, ''],
    ['what ends them', `${' '.repeat(1_999)}x`, 'x'],
  ])('keeps %s', (_, said, text) => {
    expect(reasonText(said)).toBe(text);
  });
});

describe('reasonCode', () => {
  it.each([
    ['validation_failed', 'validation-failed'],
    ['ValidationFailed', 'validation-failed'],
    ['TAX.CODE_UNKNOWN', 'tax-code-unknown'],
    ['e42', 'e42'],
    ['tax..code__unknown:x', 'tax-code-unknown-x'],
    ['tax--code', 'tax-code'],
    ['nif_', 'nif'],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['42', 'code-42'],
    ['123456', 'code-123456'],
    ['HTTP_403', 'service-http-403'],
    ['answer_without_id', 'service-answer-without-id'],
    ['answers_unreadable', 'service-answers-unreadable'],
    ['key_known_with_other_bytes', 'service-key-known-with-other-bytes'],
    ['redirect', 'service-redirect'],
    ['refused_after_lost_answer', 'service-refused-after-lost-answer'],
    ['service_id_taken', 'service-service-id-taken'],
    ['service_ids_repeated', 'service-service-ids-repeated'],
    ['stored_error', 'service-stored-error'],
    ['profile-contradiction', 'service-profile-contradiction'],
    ['redirected', 'redirected'],
    ['no_redirect', 'no-redirect'],
  ])('turns %s into %s', (code, expected) => {
    expect(reasonCode(code)).toBe(expected);
  });

  it.each(['501964843', 'The name is wrong', '', 'a'.repeat(65), 'é', 42, null, undefined, {}])(
    'takes no code from %j',
    (code) => {
      expect(reasonCode(code)).toBeNull();
    },
  );
});
