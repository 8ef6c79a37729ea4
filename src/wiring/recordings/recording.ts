import { z } from 'zod';

/** Name of the format in each file. */
export const RECORDING_FORMAT = 'lote-recording-1';

const operation = z.enum(['create-invoice', 'get-invoice', 'create-merchant', 'list-merchants', 'register-webhook']);

/** Names and values in turn, one pair for each header line. */
const headerLines = z.array(z.string()).max(2_000);

/** Values are masked; what a program reads of them is not. */
const Body = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('json'), value: z.unknown() }),
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({
    kind: z.literal('unreadable'),
    why: z.enum(['empty', 'encoded', 'oversize', 'cut-short', 'not-json', 'not-evaluated']),
  }),
]);

/** One request to the service and its answer. */
export const RecordedExchange = z.strictObject({
  format: z.literal(RECORDING_FORMAT),
  kind: z.literal('exchange'),
  at: z.number(),
  /** null: no request of the profile in force. */
  operation: operation.nullable(),
  request: z.strictObject({
    method: z.string().max(20),
    /** Base address of the service, without a slash at its end. */
    base: z.string().max(2_000),
    /** Below the base address, with its query. */
    path: z.string().max(20_000),
    body: z.unknown().optional(),
  }),
  answer: z.strictObject({ status: z.number().int().min(100).max(999), headers: headerLines, body: Body }),
});

/** One delivery to the receiver. */
export const RecordedDelivery = z.strictObject({
  format: z.literal(RECORDING_FORMAT),
  kind: z.literal('delivery'),
  at: z.number(),
  headers: headerLines,
  /** null: it was refused before its body was read. */
  body: Body.nullable(),
  /** How it was judged when it came, since a masked one cannot be judged again; null: it was not. */
  signature: z
    .strictObject({
      /** The section `signature` of the profile of then. */
      scheme: z.record(z.string(), z.unknown()),
      /** null: it holds. */
      refusal: z.string().max(100).nullable(),
    })
    .nullable(),
});

/** The content of one file of a capture. */
export const RecordingFile = z.discriminatedUnion('kind', [RecordedExchange, RecordedDelivery]);

/** A record with the name by which people find it. */
export type Recording = (z.infer<typeof RecordedExchange> | z.infer<typeof RecordedDelivery>) & {
  readonly name: string;
};

/** A recorded request to the service and its answer. */
export type ExchangeRecording = Extract<Recording, { kind: 'exchange' }>;

/** A recorded delivery. */
export type DeliveryRecording = Extract<Recording, { kind: 'delivery' }>;

/** The body of an answer or a delivery. */
export type RecordedBody = z.infer<typeof Body>;
