/** A kind of request to the service. */
export type ServiceOperation =
  | 'create-invoice'
  | 'get-invoice'
  | 'list-merchants'
  | 'create-merchant'
  | 'register-webhook';

/** How a request ended: class of the HTTP status, `no-answer` if bytes may have left and no status came, `not-sent` if no byte left. */
export type RequestOutcome = '2xx' | '3xx' | '4xx' | '429' | '5xx' | 'no-answer' | 'not-sent';

/** Called when a request has its permit, after `waitedMs`. The caller calls the returned function when the request has ended. */
export type MeasureRequest = (operation: ServiceOperation, waitedMs: number) => (outcome: RequestOutcome) => void;

/** Called when a statement of the ledger has ended. `statement` is its name in the code, without data. `failed`: the database refused or was away. */
export type MeasureStatement = (statement: string, ms: number, failed: boolean) => void;
