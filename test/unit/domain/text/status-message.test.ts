import { describe, expect, it } from 'vitest';
import { isStatusMessage, statusMessage } from '../../../../src/domain/text/status-message.ts';

describe('the message of an answer', () => {
  it.each([
    [503, '', 'HTTP 503'],
    [422, 'No such tax code', 'HTTP 422: No such tax code'],
    [0, 'No status', 'HTTP 0: No status'],
  ])('with status %d and the words "%s" is known again', (status, said, message) => {
    expect(statusMessage(status, said)).toBe(message);
    expect(isStatusMessage(message)).toBe(true);
  });

  it.each([
    'This request was not sent (connection-refused)',
    'The service answered 403 Forbidden.',
    'The service says HTTP 422: no',
    'HTTP 422 is what it said',
  ])('is not %j', (message) => {
    expect(isStatusMessage(message)).toBe(false);
  });
});
