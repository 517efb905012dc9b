"""Google: generateContent and the Interactions API of Gemini."""
