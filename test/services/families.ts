import { envelopeLike } from './envelope-like.ts';
import type { Family } from './fake/family.ts';
import { googleLike } from './google-like.ts';
import { jsonApiLike } from './json-api-like.ts';
import { laravelLike } from './laravel-like.ts';
import { locationLike } from './location-like.ts';
import { pollingLike } from './polling-like.ts';
import { shopifyLike } from './shopify-like.ts';
import { slackLike } from './slack-like.ts';
import { standardWebhooksLike } from './standard-webhooks-like.ts';
import { stripeLike } from './stripe-like.ts';

/** Ten services that keep the published interface and differ in everything that it leaves open. */
export const FAMILIES: readonly Family[] = [
  ...[stripeLike, standardWebhooksLike, shopifyLike, slackLike, envelopeLike],
  ...[googleLike, jsonApiLike, locationLike, laravelLike, pollingLike],
];
