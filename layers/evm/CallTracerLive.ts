/**
 * What a prepared transaction would do, by a node: `eth_estimateGas`, and `debug_traceCall` where it offers that.
 */
import { Effect, Layer, Schema } from "effect"
import type { Hex } from "viem"
import { type CallTrace, CallTracer, type TracedCall } from "#domain/order/CallTracer.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { RelayerSigners } from "#domain/relay/Signer.ts"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

const maxCalls = 200
const longestText = 300

const Text = Schema.String.check(Schema.isMaxLength(4_096))
const Bytes = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})*$/u))
const Quantity = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{1,16}$/u))

const CallOfFrame = Schema.Struct({
  type: Text,
  from: Text,
  to: Schema.optionalKey(Text),
  gasUsed: Schema.optionalKey(Quantity),
  output: Schema.optionalKey(Bytes),
  error: Schema.optionalKey(Text),
  revertReason: Schema.optionalKey(Text)
})

/** A frame of geth's `callTracer`, as far as it is read. */
interface Frame extends Schema.Schema.Type<typeof CallOfFrame> {
  readonly calls?: ReadonlyArray<Frame>
}

const Frame: Schema.Codec<Frame> = Schema.Struct({
  ...CallOfFrame.fields,
  calls: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Frame> => Frame)))
})

const decodeFrame = Schema.decodeUnknownEffect(Frame)

/** Nodes decode what is plain text alone. */
const failureOf = ({ error, output, revertReason: text }: Frame): string | undefined =>
  error === undefined || text !== undefined || output === undefined || output === "0x"
    ? (text ?? error)
    : revertReason(output)

/** Lists calls in the order in which they are made. */
const flattened = (frame: Frame, depth: number, into: Array<TracedCall>): ReadonlyArray<TracedCall> => {
  if (into.length === maxCalls) return into
  const reason = failureOf(frame)
  into.push({
    depth,
    type: frame.type,
    from: frame.from,
    to: frame.to ?? null,
    gasUsed: BigInt(frame.gasUsed ?? 0),
    error: reason === undefined ? null : reason.slice(0, longestText)
  })
  for (const call of frame.calls ?? []) flattened(call, depth + 1, into)
  return into
}

export const CallTracerLive = Layer.effect(
  CallTracer,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const { signers } = yield* RelayerSigners
    const from = toViem(signers[0].address)

    const trace = Effect.fn("CallTracer.trace")(function* ({ callData, chainId, gasLimit, to }: PreparedTransaction) {
      const transaction = { account: from, to: toViem(to), data: callData as Hex, gas: gasLimit }
      const gasUsed = yield* clients.request(chainId, "eth_estimateGas", (client) => client.estimateGas(transaction))
      const call = { from, to: transaction.to, data: transaction.data, gas: `0x${gasLimit.toString(16)}` }
      const calls = yield* clients
        .request(chainId, "debug_traceCall", (client) =>
          client.request({ method: "debug_traceCall", params: [call, "latest", { tracer: "callTracer" }] } as never)
        )
        .pipe(
          Effect.flatMap((answer: unknown) => decodeFrame(answer)),
          Effect.map((frame) => flattened(frame, 0, [])),
          // Many nodes offer no traces; by the estimate above the transaction succeeds.
          Effect.catch((error) =>
            Effect.as(
              Effect.logDebug(`Chain ${chainId} gave no trace: ${error.message}`),
              [] as ReadonlyArray<TracedCall>
            )
          )
        )
      return { gasUsed, calls } satisfies CallTrace
    })

    return CallTracer.of({ trace })
  })
)
