/** What is called of Ondo's GMTokenManager. Source: docs.ondo.finance, "Smart Contract Reference", IGMTokenManager. */
import { encodeFunctionData, type Hex, padHex, parseAbi } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { toViem } from "#layers/evm/address.ts"
import type { OndoAttestation } from "#layers/issuer/ondo/wire.ts"

export const managerAbi = parseAbi([
  "struct Quote { uint256 chainId; uint256 attestationId; bytes32 userId; address asset; uint256 price; uint256 quantity; uint256 expiration; uint8 side; bytes32 additionalData; }",
  "function mintWithAttestation(Quote quote, bytes signature, address depositToken, uint256 depositTokenAmount) returns (uint256)",
  "function redeemWithAttestation(Quote quote, bytes signature, address receiveToken, uint256 minimumReceiveAmount) returns (uint256)"
])

export interface ManagerCall {
  readonly attestation: OndoAttestation
  readonly asset: EvmAddress
  readonly stable: EvmAddress
  /** Raw units of the stablecoin: what is paid for a purchase, or must come of a sale. */
  readonly stableRaw: bigint
}

export const managerCall = ({ asset, attestation, stable, stableRaw }: ManagerCall): Hex => {
  const quote = {
    chainId: BigInt(attestation.chainId),
    attestationId: BigInt(attestation.attestationId),
    userId: attestation.userId as Hex,
    asset: toViem(asset),
    price: BigInt(attestation.price),
    quantity: BigInt(attestation.tokenAmount),
    expiration: BigInt(attestation.expiration),
    side: Number(attestation.side),
    additionalData: padHex(attestation.additionalData === "" ? "0x" : (attestation.additionalData as Hex))
  }
  const signature: Hex = `0x${Buffer.from(attestation.signature, "base64").toString("hex")}`
  return encodeFunctionData({
    abi: managerAbi,
    functionName: attestation.side === "0" ? "mintWithAttestation" : "redeemWithAttestation",
    args: [quote, signature, toViem(stable), stableRaw]
  })
}
