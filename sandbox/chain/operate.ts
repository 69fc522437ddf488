/**
 * Transactions of the sandbox's operator. The node gives them their nonces, so two that are sent at once may get the
 * same one, and the node refuses the second. Within a process the sends to a chain take turns; what the node refuses
 * for its nonce, because another process sent at the same moment, is sent again.
 */
import { Duration, Effect, Schedule, Semaphore } from "effect"
import { type Address, BaseError, type Hex, RpcRequestError, toHex } from "viem"
import type { ChainClient } from "#sandbox/chain/Anvil.ts"
import { operator } from "#sandbox/chain/canonical.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** A transaction of the sandbox's operator. `gas` is set where an estimate would cost more than it saves. */
export interface OperatorCall {
  readonly what: string
  readonly to: Address
  readonly data?: Hex
  readonly value?: bigint
  readonly gas?: bigint
}

interface Receipt {
  readonly status: Hex
  readonly transactionHash: Hex
}

const turns = new WeakMap<ChainClient, Semaphore.Semaphore>()

const turnOf = (client: ChainClient): Semaphore.Semaphore => {
  const found = turns.get(client) ?? Semaphore.makeUnsafe(1)
  turns.set(client, found)
  return found
}

const send = async (client: ChainClient, { data, gas, to, value }: OperatorCall): Promise<Hex> => {
  const receipt = await client.request<{ Parameters: readonly [object]; ReturnType: Receipt }>({
    method: "eth_sendTransactionSync",
    params: [
      {
        from: operator,
        to,
        ...(data === undefined ? {} : { data }),
        ...(value === undefined ? {} : { value: toHex(value) }),
        ...(gas === undefined ? {} : { gas: toHex(gas) })
      }
    ]
  })
  if (receipt.status !== "0x1") throw new Error(`transaction ${receipt.transactionHash} reverted`)
  return receipt.transactionHash
}

/** The node's own words; none when it gave no JSON-RPC error. */
const refusalOf = (cause: unknown): string => {
  const answer = cause instanceof BaseError ? cause.walk((error) => error instanceof RpcRequestError) : null
  return answer instanceof RpcRequestError ? answer.details : ""
}

/** The transaction was not taken because another one has its nonce, or is the same to the byte. */
const hasTakenNonce = ({ cause }: SandboxFailure): boolean =>
  /nonce|underpriced|already (known|imported)/iu.test(refusalOf(cause))

/** Retries for at most some ten seconds. */
const untilOthersAreThrough = {
  times: 100,
  schedule: Schedule.jittered(Schedule.spaced(Duration.millis(100))),
  while: hasTakenNonce
}

/** Sends a transaction as the operator and answers its hash once it is mined; a revert is a failure. */
export const operate = (client: ChainClient, call: OperatorCall): Effect.Effect<Hex, SandboxFailure> =>
  Effect.tryPromise({
    try: () => send(client, call),
    catch: (cause) =>
      new SandboxFailure({ message: `Chain ${client.chain.id} refused to ${call.what}: ${reason(cause)}`, cause })
  }).pipe(turnOf(client).withPermit, Effect.retry(untilOthersAreThrough))

const reason = (cause: unknown) => {
  const said = refusalOf(cause)
  if (said !== "") return said
  return cause instanceof Error ? (cause.message.split("\n")[0] ?? cause.name) : String(cause)
}
