/**
 * `ballast/rpc`: the procedures of people who sign in with a wallet, and of public market data, plain: promises, async
 * iterators and one class of errors. It needs no other package.
 *
 * ```ts
 * import { connectProcedures } from "ballast/rpc"
 *
 * const anybody = connectProcedures({ baseUrl: "https://api.ballast.example" })
 * const { nonce } = await anybody.call("identity.nonce")
 * ```
 */
export {
  connectProcedures,
  type ConnectProceduresOptions,
  type PlainProcedures,
  type ProcedureName
} from "#client/plain/procedures.ts"
export { BallastError, type ErrorCode } from "#client/transport/BallastError.ts"
