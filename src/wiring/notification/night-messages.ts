import type { NightMessages } from '../../domain/ports/night-messages.ts';
import type { MessageChannel } from '../../domain/ports/run-log.ts';
import type { Config } from '../../runtime/config/config.ts';
import { chooseLanguage } from '../../texts/choose-language.ts';
import { sendMail } from './mail-sender.ts';
import { messageIdOf, nightMessage } from './night-message.ts';
import { postSigned } from './webhook-sender.ts';

type MessageSettings = Pick<Config, 'application' | 'isOneOfSeveral' | 'language' | 'messages'>;

/** The message of a night, by e-mail and by a signed webhook, where they are configured. */
export function createNightMessages(
  { application, isOneOfSeveral, language, messages: { mail, webhook } }: MessageSettings,
  { consoleUrl, now }: { readonly consoleUrl: () => string | null; readonly now: () => number },
): NightMessages {
  const channels: readonly MessageChannel[] = [
    ...(mail === null ? [] : (['email'] as const)),
    ...(webhook === null ? [] : (['webhook'] as const)),
  ];
  return {
    channels,
    async send(channel, night) {
      const place = { application, isOneOfSeveral, consoleUrl: consoleUrl() };
      const message = nightMessage(night, chooseLanguage(language), place);
      const id = messageIdOf(channel, place, night);
      if (channel === 'email' && mail !== null)
        return sendMail(mail, { ...message, messageId: `<${id}@${domainOf(mail.from)}>` });
      if (channel === 'webhook' && webhook !== null) {
        const { data, subject, text } = message;
        const event = { type: 'night.finished', timestamp: new Date(now()).toISOString() };
        const body = JSON.stringify({ ...event, data: { ...data, language, subject, text } });
        await postSigned(webhook, { id, body }, now());
      }
      return null;
    },
  };
}

/** Of the sender's address, as the standard wants it. */
function domainOf(address: string): string {
  return /@([A-Za-z0-9.-]+)>?$/.exec(address)?.[1] ?? 'lote.invalid';
}
