"""Chains as people keep them: the library, uploads, versions and the explorer. How a chain is stored is store's business."""
