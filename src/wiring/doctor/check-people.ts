import { isIP } from 'node:net';
import { LOOPBACK_HOSTS } from '../../console/start-console.ts';
import type { Config } from '../../runtime/config/config.ts';
import { fine, trouble, unknown, type Check } from './check.ts';

/** A network of more addresses than this belongs to nobody alone: 16 million of IPv4, a provider's share of IPv6. */
const WIDEST = { ipv4: 8, ipv6: 32 } as const;

/** Whether what decides who may act in the console can be believed. Only the configuration is read. */
export function checkPeople({ console: place }: Pick<Config, 'console'>): readonly Check[] {
  const name = 'people';
  const { signIn } = place;
  if (signIn === null)
    return [fine(name, 'sign-in is off: whoever reaches the console may act, and the audit says console')];
  const { trustedProxies, userHeader, publicUrl, operators, operatorGroups } = signIn;
  const wide = trustedProxies.filter(isWide);
  if (wide.length > 0)
    return [
      trouble(
        name,
        `CONSOLE_TRUSTED_PROXIES holds ${wide.join(', ')}: whoever writes a name into ${userHeader} is believed to be that person.`,
        'Name the addresses of the proxy alone.',
      ),
    ];
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'http:' && !LOOPBACK_HOSTS.has(hostname.replace(/^\[|\]$/gu, '')))
    return [
      trouble(
        name,
        `CONSOLE_URL is ${publicUrl}: pages with names and tax numbers, and the cookies of people, go over the network in clear.`,
        'Let the proxy speak HTTPS, and write that address into CONSOLE_URL.',
      ),
    ];
  if (operators.length === 0 && operatorGroups.length === 0)
    return [
      unknown(
        name,
        'Sign-in is on, and nobody may operate but programs with the console token.',
        'Set CONSOLE_OPERATORS or CONSOLE_OPERATOR_GROUPS, if people should.',
      ),
    ];
  const shared = trustedProxies.filter(isLoopback);
  return shared.length > 0
    ? [
        unknown(
          name,
          `CONSOLE_TRUSTED_PROXIES holds ${shared.join(', ')}: every account of this machine can write a name into ${userHeader}.`,
          'Nothing, where this machine has no accounts but those of its administrators; else put proxy or console elsewhere.',
        ),
      ]
    : [fine(name, `signed in by ${trustedProxies.join(', ')} in ${userHeader}`)];
}

function isWide(range: string): boolean {
  const [address = '', prefix] = range.split('/');
  return prefix !== undefined && Number(prefix) < (isIP(address) === 6 ? WIDEST.ipv6 : WIDEST.ipv4);
}

function isLoopback(range: string): boolean {
  return range.startsWith('127.') || range === '::1' || range.startsWith('::1/');
}
