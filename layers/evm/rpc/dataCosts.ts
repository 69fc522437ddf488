/**
 * What a rollup charges beside the fee of gas, as its own contracts say it: for putting a transaction's bytes on the
 * chain that it settles on, and for its operator.
 *
 * On chains of the OP stack both are fees that `GasPriceOracle` answers: for bytes a bound by a transaction's size, for
 * the operator by the gas that it uses. On Arbitrum the bytes are gas of the transaction, which has to be within its
 * limit; the node answers for `NodeInterface`, which no contract can call. Sources: OP stack specifications (Fjord,
 * Isthmus, Jovian), Arbitrum Nitro's documentation.
 */
import { Effect } from "effect"
import { decodeFunctionResult, type Hex, keccak256, parseAbi, size, toHex, zeroAddress } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"

export const gasPriceOracle = "0x420000000000000000000000000000000000000F"
const gasPriceOracleAbi = parseAbi([
  "function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)",
  "function getOperatorFee(uint256 gasUsed) view returns (uint256)"
])

const nodeInterface = "0x00000000000000000000000000000000000000C8"
const nodeInterfaceAbi = parseAbi([
  "function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)"
])

/** Grows by the kilobyte (1,024 bytes). */
interface Linear {
  readonly fixed: bigint
  readonly perKilobyte: bigint
}

export interface DataCosts {
  /** Wei beside the fee of gas. */
  readonly fee: Linear
  /** Gas of the transaction. */
  readonly gas: Linear
  /** Wei for the operator, beside both. */
  readonly operator: OperatorFee
}

/** Grows by a million units of gas. */
interface OperatorFee {
  readonly fixed: bigint
  readonly perMillion: bigint
}

const nothing: Linear = { fixed: 0n, perKilobyte: 0n }
const noOperator: OperatorFee = { fixed: 0n, perMillion: 0n }
const noDataCosts: DataCosts = { fee: nothing, gas: nothing, operator: noOperator }

const kilobyte = 1_024

/** What stands around the calldata: nonce, fees, address and the signature. */
const envelopeBytes = 180

/** Bytes that no compression makes smaller, as signatures and hashes are. */
const sample =
  `0x${Array.from({ length: kilobyte / 32 }, (_, index) => keccak256(toHex(index)).slice(2)).join("")}` as const

const upperBound = callDataOf(gasPriceOracleAbi, "getL1FeeUpperBound")
const operatorFee = callDataOf(gasPriceOracleAbi, "getOperatorFee")
const million = 1_000_000n
const l1Component = callDataOf(nodeInterfaceAbi, "gasEstimateL1Component")

/**
 * Reads the operator's fee. A contract that answers of bytes at one block and not of operators predates Isthmus, which
 * brought that fee.
 */
const operatorOf = (none: bigint | null, some: bigint | null): OperatorFee =>
  none === null || some === null ? noOperator : { fixed: none, perMillion: some - none }

const feesOfOptimism = Effect.fnUntraced(function* (chainId: ChainId) {
  const data = [upperBound(BigInt(kilobyte)), upperBound(BigInt(2 * kilobyte)), operatorFee(0n), operatorFee(million)]
  const answers = yield* multicall(
    chainId,
    data.map((call) => ({ target: gasPriceOracle, data: call }))
  )
  const [small, large, none, some] = answers.map(uintOf)
  if (small == null || large == null || large < small) {
    return yield* new ChainUnavailable({ chainId, reason: `GasPriceOracle does not answer at ${gasPriceOracle}` })
  }
  const perKilobyte = large - small
  const costs: DataCosts = {
    ...noDataCosts,
    fee: { fixed: small > perKilobyte ? small - perKilobyte : 0n, perKilobyte },
    operator: operatorOf(none ?? null, some ?? null)
  }
  return costs
})

const gasOfArbitrum = Effect.fnUntraced(function* (chainId: ChainId) {
  const { request } = yield* EvmClients
  const { data } = yield* request(chainId, "eth_call", (client) =>
    client.call({ to: nodeInterface, data: l1Component(zeroAddress, false, sample) })
  )
  const silent = new ChainUnavailable({ chainId, reason: `NodeInterface does not answer at ${nodeInterface}` })
  if (data === undefined || size(data) !== 3 * 32) return yield* silent
  const [gas] = decodeFunctionResult({ abi: nodeInterfaceAbi, functionName: "gasEstimateL1Component", data })
  const costs: DataCosts = { ...noDataCosts, gas: { fixed: 0n, perKilobyte: gas } }
  return costs
})

/** Fails where a rollup's contract does not answer: what is not known is not zero. */
export const readDataCosts = Effect.fn("readDataCosts")(function* (chainId: ChainId) {
  const { chain } = yield* EvmClients
  const { rollup } = yield* chain(chainId)
  if (rollup === undefined) return noDataCosts
  return yield* rollup === "optimism" ? feesOfOptimism(chainId) : gasOfArbitrum(chainId)
})

const at = ({ fixed, perKilobyte }: Linear, bytes: number): bigint =>
  fixed + (perKilobyte * BigInt(bytes + envelopeBytes) + BigInt(kilobyte) - 1n) / BigInt(kilobyte)

/** Wei beside the fee of gas that a transaction with so many bytes of calldata costs. */
export const dataFeeOf = ({ fee }: DataCosts, bytes: number): bigint => (fee.perKilobyte === 0n ? 0n : at(fee, bytes))

/** Wei that the operator charges for a transaction that uses so much gas. */
export const operatorFeeOf = ({ operator }: DataCosts, gas: bigint): bigint =>
  operator.fixed + (operator.perMillion * gas + million - 1n) / million

/** Units of gas that the bytes of a transaction take. */
export const dataGasOf = ({ gas }: DataCosts, bytes: number): bigint => (gas.perKilobyte === 0n ? 0n : at(gas, bytes))

/**
 * The limit of a transaction's gas and what it costs beside it. The price of data may rise by half before the
 * transaction is included; what is not used of a limit comes back.
 */
export const withDataCosts = (costs: DataCosts, callData: string, gasLimit: bigint) => {
  const bytes = size(callData as Hex)
  const limit = gasLimit + (3n * dataGasOf(costs, bytes)) / 2n
  const dataFee = dataFeeOf(costs, bytes) + operatorFeeOf(costs, limit)
  return { gasLimit: limit, ...(dataFee === 0n ? {} : { dataFee }) }
}
