import { describe, expect, it } from 'vitest';
import { reasonCode } from '../../../../src/service/profile/reason-text.ts';

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
