"""Text from the raw document: folders and columns of documents, block by block, and the words in them counted."""

from discrim.text.documents import DocumentBlock, Documents, documents, open_documents
from discrim.text.word_counts import WordCounts

__all__ = ["DocumentBlock", "Documents", "WordCounts", "documents", "open_documents"]
