import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import { checkPeople } from '../../../../src/wiring/doctor/check-people.ts';

function stateOf(env: Readonly<Record<string, string>>): string {
  const [check, ...more] = checkPeople(readConfig(env));
  expect(more).toEqual([]);
  return check?.state ?? '';
}

const SOUND = {
  CONSOLE_TRUSTED_PROXIES: '10.1.2.3',
  CONSOLE_URL: 'https://lote.example',
  CONSOLE_OPERATORS: 'ana',
};

describe('the check of people', () => {
  it('finds nothing wrong without sign-in, and with one proxy over HTTPS', () => {
    expect(stateOf({})).toBe('ok');
    expect(stateOf(SOUND)).toBe('ok');
  });

  it.each(['0.0.0.0/0', '::/0', '10.1.2.3,0.0.0.0/1', '2000::/3'])('is in trouble where %s is trusted', (wide) => {
    expect(stateOf({ ...SOUND, CONSOLE_TRUSTED_PROXIES: wide })).toBe('trouble');
  });

  it('is in trouble where people come over plain HTTP from elsewhere', () => {
    expect(stateOf({ ...SOUND, CONSOLE_URL: 'http://lote.example' })).toBe('trouble');
    expect(stateOf({ ...SOUND, CONSOLE_URL: 'http://localhost:8080' })).toBe('ok');
  });

  it('says where nobody may operate, and where each account of the machine can name people', () => {
    expect(stateOf({ ...SOUND, CONSOLE_OPERATORS: '' })).toBe('unknown');
    expect(stateOf({ ...SOUND, CONSOLE_TRUSTED_PROXIES: '127.0.0.1' })).toBe('unknown');
  });
});
