/** The relayer's accounts on simulated chains. */
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { onChain, shownHead, wait } from "#test/simulation/ports/link.ts"
import {
  digestOf,
  readPayloads,
  readSigned,
  type SignedBytes,
  actionHashOf,
  writePayloads,
  writeSigned
} from "#test/simulation/world/Payload.ts"
import type { World } from "#test/simulation/world/World.ts"

const relayerOf = (n: number) => Eip55.checksum(`0x${(0xfee0_0000 + n).toString(16).padStart(40, "0")}`) as EvmAddress

/** Every world has three; which of them are used is the service's choice. */
export const relayersOf = (_world: World): readonly [EvmAddress, ...ReadonlyArray<EvmAddress>] => [
  relayerOf(0),
  relayerOf(1),
  relayerOf(2)
]

/** Most replacements that the gas ceiling allows. */
const maxReplacements = 6

const hashesOf = (signed: SignedBytes) => {
  const raw = writeSigned(signed)
  return { raw, txHash: digestOf(raw) }
}

/** Signs, and records what was signed. */
const bytesOf = (world: World, signed: SignedBytes) => {
  const bytes = hashesOf(signed)
  world.signed.set(bytes.txHash, readPayloads(signed.callData).map(actionHashOf))
  return bytes
}

/** Signs the swaps again as another operation, sent with the next nonce. */
const signAgain = (
  world: World,
  { callData, chainId }: PreparedTransaction,
  { nonce, relayer }: { readonly nonce: number; readonly relayer: EvmAddress }
) => {
  const payloads = readPayloads(callData).map((payload) =>
    payload._tag === "UserOperation" ? { ...payload, nonce: payload.nonce + 1 } : payload
  )
  const bytes = { relayer, nonce: nonce + 1, fee: 1, callData: writePayloads(payloads) }
  world.chain(chainId).send({ ...bytes, txHash: hashesOf(bytes).txHash, payloads })
}

/** A key of a service elsewhere may hang. */
const askKey = Effect.fnUntraced(function* (world: World) {
  yield* wait(world)
  const random = world.keysAndPrices
  if (!random.chance(world.faults.keyHangs)) return
  world.trace.note("fault: the key takes its time")
  yield* Effect.sleep(random.between(8_000, 45_000))
})

export const simulatedRelayer = (world: World) =>
  Layer.effect(Relayer, Effect.map(SqlClient.SqlClient, relayerOn(world)))

const relayerOn = (world: World) => (sql: SqlClient.SqlClient) => {
  const accounts = relayersOf(world)
  return Relayer.of({
    address: accounts[0],
    accounts,
    sign: (prepared, nonce, relayer = accounts[0]) =>
      Effect.gen(function* () {
        const { actionHash, callData, chainId, fromBlock } = prepared
        const isHeld = Option.isSome(yield* Effect.serviceOption(sql.transactionService))
        world.signatures.push({ actionHash, isHeld })
        yield* askKey(world)
        if (world.random.chance(world.faults.unreachable)) {
          world.trace.note("fault: the key gives no signature")
          return yield* new ChainUnavailable({ chainId, reason: "the key gave no signature" })
        }
        const bytes = bytesOf(world, { relayer, nonce, fee: 1, callData })
        if (world.sabotage === "signs twice") signAgain(world, prepared, { nonce, relayer })
        if (world.sabotage === "sends early") world.sent.push(bytes.txHash)
        return { chainId, actionHash, relayer, nonce, ...bytes, fromBlock, replaces: [] } satisfies SignedTransaction
      }),
    usedNonces: (chainId, relayer) =>
      onChain(world, chainId, (chain) => chain.usedNonces(relayer, shownHead(world, chain))),
    quoteFeeBump: ({ replaces }) =>
      Effect.succeed(
        replaces.length < maxReplacements
          ? ({ _tag: "Bump", fees: { maxFeePerGas: BigInt(replaces.length + 2), maxPriorityFeePerGas: 1n } } as const)
          : ({ _tag: "AboveCeiling" } as const)
      ),
    signReplacement: (transaction, { maxFeePerGas }) =>
      Effect.sync(() => ({
        ...transaction,
        ...bytesOf(world, { ...readSigned(transaction.raw), fee: Number(maxFeePerGas) }),
        replaces: [...transaction.replaces, transaction.txHash]
      })),
    quoteCancelling: () => Effect.succeedNone,
    signCancelling: () => Effect.die(new Error("Nothing is worth too little for the gas of a simulated chain")),
    broadcast: ({ chainId, raw, replaces, txHash }) =>
      Effect.gen(function* () {
        const { callData, fee, relayer, nonce } = readSigned(raw)
        const outcome = yield* onChain(world, chainId, (chain) => {
          const sent = chain.send({ txHash, relayer, nonce, fee, payloads: readPayloads(callData) })
          world.sent.push(txHash)
          if (sent === "taken")
            world.trace.note("sent", `${txHash.slice(0, 10)} nonce ${nonce} of ${relayer.slice(-4)}`)
          return sent === "used" && [txHash, ...replaces].some((hash) => chain.find(hash) !== undefined)
            ? "known"
            : sent
        })
        if (outcome === "used") return yield* new ChainUnavailable({ chainId, reason: `nonce ${nonce} is used` })
      })
  })
}
