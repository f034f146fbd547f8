"""POST /v1/decide: does what a cache holds answer the question, or must new content be fetched?"""

from fastapi import APIRouter

router = APIRouter(tags=["decisions"])
