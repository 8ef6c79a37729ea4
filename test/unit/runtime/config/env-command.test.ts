import { describe, expect, it } from 'vitest';
import { EnvCommand } from '../../../../src/runtime/config/env-command.ts';

describe('a command of the environment', () => {
  it.each([
    ['/usr/local/bin/mail report', ['/usr/local/bin/mail report']],
    ['["mail", "--to", "a b"]', ['mail', '--to', 'a b']],
    ['mailer; rm -rf /', ['mailer; rm -rf /']],
  ])('%s is %j', (text, command) => {
    expect(EnvCommand.parse(text)).toEqual(command);
  });

  it.each(['[]', '["mail", 1]', '[mail]', '[""]'])('%s is refused with an example', (text) => {
    expect(EnvCommand.safeParse(text).error?.issues[0]?.message).toContain('JSON array such as');
  });
});
