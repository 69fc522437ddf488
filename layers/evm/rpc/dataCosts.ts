/**
 * What a rollup charges for putting a transaction's bytes on the chain that it settles on, as its own contracts say it.
 *
 * On chains of the OP stack that is a fee beside that of gas, which `GasPriceOracle` bounds by a transaction's size. On
 * Arbitrum it is gas of the transaction, which has to be within its limit; the node answers for `NodeInterface`, which
 * no contract can call. Sources: OP stack specifications (Fjord), Arbitrum Nitro's documentation.
 */
import { Effect } from "effect"
import { decodeFunctionResult, type Hex, keccak256, parseAbi, size, toHex, zeroAddress } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"

export const gasPriceOracle = "0x420000000000000000000000000000000000000F"
const gasPriceOracleAbi = parseAbi(["function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)"])

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
}

const nothing: Linear = { fixed: 0n, perKilobyte: 0n }
const noDataCosts: DataCosts = { fee: nothing, gas: nothing }

const kilobyte = 1_024

/** What stands around the calldata: nonce, fees, address and the signature. */
const envelopeBytes = 180

/** Bytes that no compression makes smaller, as signatures and hashes are. */
const sample =
  `0x${Array.from({ length: kilobyte / 32 }, (_, index) => keccak256(toHex(index)).slice(2)).join("")}` as const

const upperBound = callDataOf(gasPriceOracleAbi, "getL1FeeUpperBound")
const l1Component = callDataOf(nodeInterfaceAbi, "gasEstimateL1Component")

const feesOfOptimism = Effect.fnUntraced(function* (chainId: ChainId) {
  const sizes = [kilobyte, 2 * kilobyte].map(
    (bytes) => ({ target: gasPriceOracle, data: upperBound(BigInt(bytes)) }) as const
  )
  const [one, two] = yield* multicall(chainId, sizes)
  const [small, large] = [uintOf(one), uintOf(two)]
  if (small === null || large === null || large < small) {
    return yield* new ChainUnavailable({ chainId, reason: `GasPriceOracle does not answer at ${gasPriceOracle}` })
  }
  const perKilobyte = large - small
  const costs: DataCosts = {
    ...noDataCosts,
    fee: { fixed: small > perKilobyte ? small - perKilobyte : 0n, perKilobyte }
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

/** Units of gas that the bytes of a transaction take. */
export const dataGasOf = ({ gas }: DataCosts, bytes: number): bigint => (gas.perKilobyte === 0n ? 0n : at(gas, bytes))

/**
 * The limit of a transaction's gas and the fee of its data. The price of data may rise by half before the transaction
 * is included; what is not used of a limit comes back.
 */
export const withDataCosts = (costs: DataCosts, callData: string, gasLimit: bigint) => {
  const bytes = size(callData as Hex)
  const dataFee = dataFeeOf(costs, bytes)
  return { gasLimit: gasLimit + (3n * dataGasOf(costs, bytes)) / 2n, ...(dataFee === 0n ? {} : { dataFee }) }
}
