/** The relayer of the market in memory: what is dear waits, and what it sends is included at once. */
import { Effect, Layer } from "effect"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { hash, include, requireUp, TestChain } from "#test/support/chains/TestMarket.ts"

export const relayer = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress

const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }

export const RelayerTest = Layer.effect(
  Relayer,
  Effect.gen(function* () {
    const market = yield* TestChain
    return Relayer.of({
      address: relayer,
      accounts: [relayer],
      sign: ({ actionHash, callData, chainId, fromBlock }, nonce) =>
        Effect.gen(function* () {
          yield* market.at("sign")
          if (!market.signs) return yield* new ChainUnavailable({ chainId, reason: "the key gave no signature" })
          return {
            chainId,
            actionHash,
            relayer,
            nonce,
            txHash: hash("tx", nonce),
            raw: callData,
            fromBlock,
            replaces: []
          }
        }),
      usedNonces: () => Effect.succeed(market.usedNonces),
      quoteFeeBump: ({ nonce, replaces }, { feeCeiling }) =>
        Effect.sync(() => {
          if (nonce < market.dearNonces && feeCeiling !== null) return { _tag: "AboveLimit" } as const
          return replaces.length < market.maxReplacements
            ? ({ _tag: "Bump", fees } as const)
            : ({ _tag: "AboveCeiling" } as const)
        }),
      quoteCancelling: () => Effect.succeedSome({ fees, gasLimit: 1n }),
      signCancelling: (transaction) =>
        Effect.succeed({
          ...transaction,
          raw: "0x02",
          txHash: hash("taken back", transaction.nonce),
          replaces: [...transaction.replaces, transaction.txHash],
          cancels: transaction.raw
        }),
      signReplacement: (transaction) =>
        Effect.succeed({
          ...transaction,
          txHash: hash(`tx ${transaction.replaces.length + 1}`, transaction.nonce),
          replaces: [...transaction.replaces, transaction.txHash]
        }),
      broadcast: ({ actionHash, cancels, chainId, nonce, raw, replaces, txHash }) =>
        Effect.gen(function* () {
          yield* requireUp(market, chainId)
          yield* market.at("broadcast")
          market.broadcasts.push(txHash)
          if (cancels !== undefined) {
            if (market.takenBack.has(txHash)) return
            market.takenBack.set(txHash, market.mine())
            market.usedNonces += 1
            return
          }
          if (replaces.length < (nonce < market.dearNonces ? 1 : market.minReplacements)) return
          if (market.isInOrder && nonce > market.usedNonces) return
          if (market.isInOrder && nonce === market.usedNonces) market.usedNonces += 1
          include(market, chainId, { actionHash, txHash, raw })
          yield* market.at("sent")
        })
    })
  })
)
