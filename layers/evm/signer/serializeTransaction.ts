/**
 * Transactions of EIP-1559 as they are signed and sent. The calldata of a bundle has tens of kilobytes, which viem's
 * serializer writes digit by digit, twice; here it is copied as bytes. The RLP is viem's, and so is the check of
 * addresses and fees.
 */
import { assertTransactionEIP1559, type Hex, parseSignature, toRlp, type TransactionSerializableEIP1559 } from "viem"

const bytesOf = (hex: string): Buffer => {
  const bytes = Buffer.from(hex.slice(2), "hex")
  if (bytes.length * 2 + 2 !== hex.length) throw new Error("Expected whole bytes in hex, to be put into a transaction")
  return bytes
}

/** Big endian without zeros in front; zero has no bytes. */
const quantity = (value: bigint | number = 0): Buffer => {
  const digits = value.toString(16)
  return value === 0n || value === 0 ? Buffer.alloc(0) : bytesOf(`0x${digits.length % 2 === 0 ? "" : "0"}${digits}`)
}

/** Source: EIP-1559, EIP-2718. */
const type = "0x02"

/** Everything of a transaction but its signature, which may follow. */
const serialized = (transaction: TransactionSerializableEIP1559, signature: ReadonlyArray<Buffer>): Hex => {
  assertTransactionEIP1559(transaction)
  const { accessList, chainId, data, gas, maxFeePerGas, maxPriorityFeePerGas, nonce, to, value } = transaction
  if (accessList !== undefined && accessList.length > 0) throw new Error("The relayer signs no access lists")
  const numbers = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas].map((each) => quantity(each))
  const fields = [...numbers, bytesOf(to ?? "0x"), quantity(value), bytesOf(data ?? "0x"), [], ...signature]
  return `${type}${Buffer.from(toRlp(fields, "bytes")).toString("hex")}`
}

/** What is to be signed. */
export const serializeUnsigned = (transaction: TransactionSerializableEIP1559): Hex => serialized(transaction, [])

/** What is to be sent; `signature` is r, s and v (27 or 28, or the parity alone) in 65 bytes. */
export const serializeSigned = (transaction: TransactionSerializableEIP1559, signature: Hex): Hex => {
  const { r, s, yParity } = parseSignature(signature)
  return serialized(transaction, [quantity(yParity), quantity(BigInt(r)), quantity(BigInt(s))])
}
