/** The relayer: an account that pays for transactions and owns nothing else. */
import { Duration, Effect, Layer, Option } from "effect"
import { type Hex, parseTransaction, type TransactionSerializableEIP1559 } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type Cancelling, Relayer } from "#domain/relay/Relayer.ts"
import { type Fees, replacementFees } from "#domain/relay/replacementFees.ts"
import { RelayerSigners } from "#domain/relay/Signer.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { toViem } from "#layers/evm/address.ts"
import { keccak256 } from "#layers/evm/signer/keccak.ts"
import { serializeSigned, serializeUnsigned } from "#layers/evm/signer/serializeTransaction.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { BlockReader } from "#layers/evm/execution/BlockReader.ts"
import { readUsedNonces } from "#layers/evm/execution/relayerNonce.ts"
import { readDataCosts, withDataCosts } from "#layers/evm/rpc/dataCosts.ts"
import { readMarketFees } from "#layers/evm/rpc/marketFees.ts"
import { sharedReading } from "#layers/evm/rpc/sharedReading.ts"
import { sendTransaction } from "#layers/evm/execution/sendTransaction.ts"

/** Time for which bytes that an endpoint took are not sent again. */
const sentFor = Duration.seconds(1)

/** What was signed, without its signature. */
const unsignedOf = (raw: string): TransactionSerializableEIP1559 => {
  const { r: _r, s: _s, v: _v, yParity: _yParity, ...unsigned } = parseTransaction(raw as `0x02${string}`)
  return unsigned
}

const feesOf = (raw: string): Fees => {
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = unsignedOf(raw)
  return { maxFeePerGas, maxPriorityFeePerGas }
}

const gasOf = (raw: string): bigint => unsignedOf(raw).gas ?? 0n

/** Gas of a transfer between accounts without code. Source: the Ethereum Yellow Paper (G_transaction). */
const transferGas = 21_000n

/** Wei for a unit of gas with which a cancelling transaction costs in all what the cancelled one might have. */
const cancellingLimit = (
  feeCeiling: bigint,
  { cancels, gasLimit }: { readonly cancels: string; readonly gasLimit: bigint }
): bigint => (feeCeiling * gasOf(cancels)) / gasLimit

export const RelayerLive = Layer.effect(
  Relayer,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const { signers } = yield* RelayerSigners
    const [first, ...others] = signers
    const { address } = first

    const signed = Effect.fnUntraced(function* (
      account: EvmAddress,
      transaction: TransactionSerializableEIP1559,
      terms: Pick<SignedTransaction, "chainId" | "fromBlock" | "replaces" | "actionHash" | "cancels">
    ) {
      const unsigned = serializeUnsigned(transaction)
      const { chainId } = terms
      const signer = signers.find((one) => one.address === account)
      if (signer === undefined) {
        return yield* new ChainUnavailable({
          chainId,
          reason: `no key of relayer ${account} is configured any more, and a transaction of it has not landed; configure it again`
        })
      }
      const signature = yield* signer
        .sign(keccak256(unsigned), { kind: "transaction", chainId, unsigned })
        .pipe(Effect.mapError(({ message }) => new ChainUnavailable({ chainId, reason: message })))
      const raw = serializeSigned(transaction, signature as Hex)
      const answer: SignedTransaction = {
        ...terms,
        relayer: account,
        nonce: transaction.nonce!,
        txHash: keccak256(raw),
        raw
      }
      yield* spanIsAbout(answer)
      return answer
    })

    const sign = Effect.fn("Relayer.sign")(function* (
      prepared: PreparedTransaction,
      nonce: number,
      account: EvmAddress = address
    ) {
      const { actionHash, callData, chainId, fromBlock, gasLimit, maxFeePerGas, maxPriorityFeePerGas, to } = prepared
      return yield* signed(
        account,
        {
          type: "eip1559",
          chainId,
          nonce,
          to: toViem(to),
          data: callData as Hex,
          gas: gasLimit,
          maxFeePerGas,
          maxPriorityFeePerGas
        },
        { chainId, actionHash, fromBlock, replaces: [] }
      )
    })

    const signReplacement = Effect.fn("Relayer.signReplacement")(function* (
      transaction: SignedTransaction,
      fees: Fees
    ) {
      const { actionHash, cancels, chainId, fromBlock, raw, relayer, replaces, txHash } = transaction
      return yield* signed(
        relayer,
        { ...unsignedOf(raw), ...fees },
        {
          chainId,
          actionHash,
          fromBlock,
          replaces: [...replaces, txHash],
          ...(cancels === undefined ? {} : { cancels })
        }
      )
    })

    const quoteFeeBump = Effect.fn("Relayer.quoteFeeBump")(
      function* (
        transaction: SignedTransaction,
        { feeCeiling, isRefused }: { readonly isRefused: boolean; readonly feeCeiling: bigint | null }
      ) {
        const { cancels, chainId, raw } = transaction
        yield* spanIsAbout(transaction)
        const { gasCeiling: ceiling } = yield* clients.chain(chainId)
        const market = yield* readMarketFees(chainId)
        const isBound = feeCeiling !== null && cancels !== undefined
        const limit = isBound ? cancellingLimit(feeCeiling, { cancels, gasLimit: gasOf(raw) }) : feeCeiling
        return replacementFees(feesOf(raw), market, { ceiling, isRefused, limit })
      },
      Effect.provideService(EvmClients, clients)
    )

    const quoteCancelling = Effect.fn("Relayer.quoteCancelling")(
      function* ({ chainId, raw }: SignedTransaction, { feeCeiling }: { readonly feeCeiling: bigint }) {
        const { gasCeiling: ceiling } = yield* clients.chain(chainId)
        const [market, costs] = yield* Effect.all([readMarketFees(chainId), readDataCosts(chainId)], {
          concurrency: "unbounded"
        })
        const { gasLimit } = withDataCosts(costs, "0x", transferGas)
        const limit = cancellingLimit(feeCeiling, { cancels: raw, gasLimit })
        const bump = replacementFees(feesOf(raw), market, { ceiling, isRefused: true, limit })
        return bump._tag === "Bump" ? Option.some({ gasLimit, fees: bump.fees }) : Option.none<Cancelling>()
      },
      Effect.provideService(EvmClients, clients)
    )

    const signCancelling = Effect.fn("Relayer.signCancelling")(function* (
      transaction: SignedTransaction,
      { fees, gasLimit }: Cancelling
    ) {
      const { actionHash, chainId, fromBlock, nonce, raw, relayer, replaces, txHash } = transaction
      return yield* signed(
        relayer,
        { type: "eip1559", chainId, nonce, to: toViem(relayer), value: 0n, data: "0x", gas: gasLimit, ...fees },
        { chainId, actionHash, fromBlock, replaces: [...replaces, txHash], cancels: raw }
      )
    })

    const usedNonces = Effect.fn("Relayer.usedNonces")(
      (chainId: ChainId, relayer: EvmAddress) => readUsedNonces(chainId, toViem(relayer)),
      Effect.provideService(EvmClients, clients)
    )

    // All that one transaction includes send it; one of them does it for the others.
    const blocks = yield* BlockReader
    const sending = yield* sharedReading(
      sentFor,
      ({ txHash }: SignedTransaction) => txHash,
      (transaction: SignedTransaction) =>
        sendTransaction(transaction).pipe(
          Effect.ensuring(blocks.invalidate(transaction.chainId)),
          Effect.provideService(EvmClients, clients)
        )
    )
    const broadcast = Effect.fn("Relayer.broadcast")((transaction: SignedTransaction) =>
      Effect.andThen(spanIsAbout(transaction), sending.read(transaction))
    )

    const accounts = [address, ...others.map((other) => other.address)] as const

    return Relayer.of({
      address,
      accounts,
      sign,
      broadcast,
      usedNonces,
      quoteFeeBump,
      signReplacement,
      quoteCancelling,
      signCancelling
    })
  })
)
