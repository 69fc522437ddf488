// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token of the world, with one issuer
/// @notice Placed as code at a main network token's address, so its name and decimals are set by `initialize`.
contract SandboxToken is ERC20 {
    string private _tokenName;
    string private _tokenSymbol;
    uint8 private _tokenDecimals;
    address public issuer;

    error AlreadyInitialized();
    error OnlyIssuer(address caller);

    constructor() ERC20("", "") {}

    /// @notice Works once.
    function initialize(string calldata name_, string calldata symbol_, uint8 decimals_, address issuer_) external {
        if (issuer != address(0)) revert AlreadyInitialized();
        (_tokenName, _tokenSymbol, _tokenDecimals, issuer) = (name_, symbol_, decimals_, issuer_);
    }

    function mint(address account, uint256 amount) external {
        if (msg.sender != issuer) revert OnlyIssuer(msg.sender);
        _mint(account, amount);
    }

    function name() public view override returns (string memory) {
        return _tokenName;
    }

    function symbol() public view override returns (string memory) {
        return _tokenSymbol;
    }

    function decimals() public view override returns (uint8) {
        return _tokenDecimals;
    }
}
