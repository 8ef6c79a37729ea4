/** The codes of gRPC that Lote tells apart: https://grpc.io/docs/guides/status-codes/. */
export const GRPC_STATUS = {
  cancelled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;
