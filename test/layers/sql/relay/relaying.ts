/** Attempts that ask for signatures of relayer accounts, by keys that answer at once or on demand. */
import { Context, Deferred, Effect, Layer, Option } from "effect"
import { type AccountId, type EvmAddress, evmAccount } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type AttemptId, type RelayedAction, RelayStore } from "#domain/relay/RelayStore.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import * as SqlRelayStore from "#layers/sql/relay/RelayStore.ts"
import { base, newAddress, noon, submit, world } from "#test/layers/sql/fixtures.ts"

export const bytes32 = (value: number) => `0x${value.toString(16).padStart(64, "0")}`

const prepared = (chainId = base): PreparedTransaction => ({
  _tag: "Evm",
  chainId,
  accountId: evmAccount(chainId, newAddress()) as AccountId,
  actionHash: bytes32(7),
  to: newAddress(),
  callData: "0x",
  gasLimit: 1n,
  bundleGas: 1_000n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  chainNonce: 0,
  laneNonces: [],
  fromBlock: 1n
})

export const newAction = Effect.fnUntraced(function* (chainId = base) {
  const { portfolioId, tenantId } = yield* world()
  const { operationId } = yield* submit(tenantId, portfolioId)
  return { attempt: { operationId, chainId, attempt: 1 }, prepared: prepared(chainId) } satisfies RelayedAction
})

let signatures = 0

export const signed = ({ actionHash, chainId, fromBlock }: PreparedTransaction, nonce: number, relayer: EvmAddress) =>
  Effect.sync((): SignedTransaction => {
    signatures += 1
    return { chainId, actionHash, relayer, nonce, txHash: bytes32(signatures), raw: "0x02", fromBlock, replaces: [] }
  })

export type RelayerAddresses = readonly [EvmAddress, ...ReadonlyArray<EvmAddress>]

export const reserve = (store: RelayStore["Service"], action: RelayedAction, accounts: RelayerAddresses) =>
  store.reserve([action], { accounts, at: noon, sign: (nonce, account) => signed(action.prepared, nonce, account) })

/** A key that answers on demand: by `go`, which is given the signature's end. */
export const slowKey = Effect.gen(function* () {
  const asked = yield* Deferred.make<number>()
  const go = yield* Deferred.make<void, ChainUnavailable>()
  const nonces: Array<number> = []
  const reserveWith = (store: RelayStore["Service"], action: RelayedAction, accounts: RelayerAddresses) =>
    store.reserve([action], {
      accounts,
      at: noon,
      sign: (nonce, account) =>
        Effect.gen(function* () {
          nonces.push(nonce)
          yield* Deferred.succeed(asked, nonce)
          yield* Deferred.await(go)
          return yield* signed(action.prepared, nonce, account)
        })
    })
  return { asked: Deferred.await(asked), go, nonces, reserveWith }
})

export const sent = (attempt: AttemptId) =>
  Effect.flatMap(RelayStore, (store) =>
    Effect.map(
      store.sent(attempt),
      Option.map(({ transaction: { nonce, relayer } }) => ({ nonce, relayer }))
    )
  )

/** The store of another process on the same database. */
export const otherProcess = Effect.map(Layer.build(Layer.fresh(SqlRelayStore.layer)), Context.get(RelayStore))
